import { z } from 'zod';
import { type PERSONAL_PARTS } from '../../selling/customers/personal-parts';
import { type Endpoints } from './endpoint';
import { id, moment, suspended } from './fields';
import { invitedRole, ownMembership, permission, role } from './team';

/** The signed-in person, and what the pages need to know of this installation. */
const session = z.object({
  email: z.string(),
  customerId: z.uuid(),
  /** The organisation's name on pages: its own name, else its email address. */
  organisation: z.string(),
  /** Role in that organisation; null for an operator who looks. */
  role: role.nullable(),
  /** All organisations of the person, their own first. */
  organisations: z.array(ownMembership),
  /** What the pages offer. The server refuses everything else anyway. */
  permissions: z.array(permission),
  /** Base URL of the gateway, for examples. */
  gatewayUrl: z.string(),
  quotaTimeZone: z.string(),
  /** True in the embedded run, where mail is shown on the outbox page. */
  hasOutbox: z.boolean(),
  /** Whether signing in asks for a second factor. */
  hasSecondFactor: z.boolean(),
  /** Whether the customer is invoiced here, or ever was. */
  hasBilling: z.boolean(),
  suspended,
});
export type Session = z.input<typeof session>;

/** The signed-in person, whether in an organisation or in none. */
const person = z.object({
  email: z.string(),
  hasSecondFactor: z.boolean(),
  quotaTimeZone: z.string(),
  /** Whether the person belongs to any organisation, and so has pages to see. */
  isMember: z.boolean(),
  /** Open invitations to the person's own address. */
  invitations: z.array(
    z.object({
      id,
      organisation: z.string(),
      role: invitedRole,
      /** Null once that account is gone. */ invitedBy: z.string().nullable(),
      expiresAt: moment,
    }),
  ),
});
export type PersonView = z.input<typeof person>;

/** What a page may know before anybody has signed in. */
const installation = z.object({
  hasOutbox: z.boolean(),
  gatewayUrl: z.string(),
  /** Providers by which people may sign in beside their passwords. */
  providers: z.array(z.object({ id: z.string(), name: z.string() })),
  /** Whether passkeys open accounts here: browsers keep none for a bare network address. */
  hasPasskeys: z.boolean(),
});

const outbox = z.object({
  mails: z.array(z.object({ id: z.string(), at: moment, to: z.string(), subject: z.string(), text: z.string() })),
});
export type Outbox = z.input<typeof outbox>;

/** Proof by asking for the password once more; an account without a password gives none. */
export const passwordProof = z.object({ password: z.string().max(1_000).optional() });

/** A deletion that was requested. */
const deletion = z.object({ erasedAt: z.iso.datetime() });

/** Which personal data are deleted with the account, and which are kept. */
export type PersonalParts = typeof PERSONAL_PARTS;

const address = z.string().trim().toLowerCase().max(254).pipe(z.email('must be an email address'));

/** `waiting`: the link in the other mail is still to be opened. */
const emailConfirmation = z.object({ state: z.enum(['waiting', 'changed']) });

/** The response has no content. */
export const done = z.object({});
/** What may be wrong with a proof by password. */
export const PROOF_REFUSALS = ['invalid_password', 'sign_in_again'] as const;

export const sessionEndpoints = {
  'GET /session': { for: 'members', needs: 'read', summary: 'Show who is signed in, in which organisation', answer: session },
} as const satisfies Endpoints;

/** What anybody may know before signing in. */
export const openEndpoints = {
  'GET /installation': { for: 'everybody', summary: 'Show what this installation offers', answer: installation },
  /** There is no such page if real mail is sent. */
  'GET /outbox': { for: 'everybody', summary: 'Read the outbox of an installation that sends no email', answer: outbox },
} as const satisfies Endpoints;

/** What a person may do with their own account. No role and no token allows it. */
export const accountEndpoints = {
  'GET /account': { for: 'persons', summary: 'Show your account, and the organisations that invite you', answer: person },
  'POST /account/invitations/:id/accept': {
    for: 'persons',
    summary: 'Accept an invitation to your address',
    answer: done,
    refuses: ['invitation_unknown', 'member_limit_reached'],
  },
  'POST /account/delete': {
    for: 'persons',
    needsForOrganisation: 'ownership',
    summary: 'Delete your account, in 14 days',
    body: passwordProof,
    answer: deletion,
    refuses: [...PROOF_REFUSALS, 'deletion_asked', 'account_shared'],
  },
  'POST /account/export': {
    for: 'persons',
    needsForOrganisation: 'ownership',
    summary: 'Everything that is known about the person, and about the organisation that the person owns',
    body: passwordProof,
    file: 'application/json; charset=utf-8',
    refuses: PROOF_REFUSALS,
  },
  /** A link goes to both addresses. Nothing changes until both were opened. */
  'POST /account/email': {
    for: 'persons',
    summary: 'Ask for another address',
    body: passwordProof.extend({ email: address }),
    answer: z.object({ email: z.string() }),
    refuses: PROOF_REFUSALS,
  },
  'POST /account/email/confirm': {
    for: 'everybody',
    summary: 'Confirm a change of address by one of the two links',
    body: z.object({ token: z.string().min(1).max(200) }),
    answer: emailConfirmation,
    refuses: ['link_unusable', 'email_taken'],
  },
} as const satisfies Endpoints;
