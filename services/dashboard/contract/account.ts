import { z } from 'zod';
import { type PERSONAL_PARTS } from '../../../plugins/core/selling/personal-parts';
import { id, moment, suspension } from './fields';
import { invitedRole, ownMembership, permission, role } from './team';

/** Who is signed in, and what the pages need to know of this installation. */
export const session = z.object({
  email: z.string(),
  customerId: z.uuid(),
  /** By what the organisation goes that the pages show: its name, else its e-mail address. */
  organisation: z.string(),
  /** In that organisation; null for an operator who looks. */
  role: role.nullable(),
  /** What the pages offer; the server refuses the rest whatever they do. */
  permissions: z.array(permission),
  /** All of the person, the own one first. */
  organisations: z.array(ownMembership),
  /** Base URL of the gateway, for examples. */
  gatewayUrl: z.string(),
  quotaTimeZone: z.string(),
  /** True in the embedded run: mail lies in the outbox page. */
  hasOutbox: z.boolean(),
  /** Whether signing in asks for a second factor. */
  hasSecondFactor: z.boolean(),
  /** Of the account; absent: not suspended. */
  suspended: suspension.optional(),
});
export type Session = z.output<typeof session>;

/** Who is signed in, whether in an organisation or in none. */
export const person = z.object({
  email: z.string(),
  hasSecondFactor: z.boolean(),
  quotaTimeZone: z.string(),
  /** Of any organisation: the pages of one are there. */
  isMember: z.boolean(),
  /** Open ones to the own address. */
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
export type PersonView = z.output<typeof person>;
export const invitationParams = z.object({ id });

/** What a page may know before anybody has signed in. */
export const installation = z.object({
  hasOutbox: z.boolean(),
  gatewayUrl: z.string(),
  /** By whom people may sign in beside their passwords. */
  providers: z.array(z.object({ id: z.string(), name: z.string() })),
  /** Whether passkeys open accounts here: browsers keep none for a bare network address. */
  hasPasskeys: z.boolean(),
});
export type Installation = z.output<typeof installation>;

export const outbox = z.object({
  mails: z.array(z.object({ id: z.string(), at: z.iso.datetime(), to: z.string(), subject: z.string(), text: z.string() })),
});
export type Outbox = z.output<typeof outbox>;

/** What asks for the password once more; an account without one gives none. */
export const passwordProof = z.object({ password: z.string().max(1_000).optional() });

/** A deletion that was asked for. */
export const deletion = z.object({ erasedAt: z.iso.datetime() });
export type Deletion = z.output<typeof deletion>;

/** Which parts of what is known of a person go with the account, and which stay. */
export type PersonalParts = typeof PERSONAL_PARTS;

const address = z.string().trim().toLowerCase().max(254).pipe(z.email('must be an e-mail address'));

export const emailChangeBody = passwordProof.extend({ email: address });
/** A change that was asked for: a link is on its way to both addresses. */
export const emailChange = z.object({ email: z.string() });
export const emailConfirmBody = z.object({ token: z.string().min(1).max(200) });
/** `waiting`: the link in the other mail is still to be opened. */
export const emailConfirmation = z.object({ state: z.enum(['waiting', 'changed']) });
export type EmailConfirmation = z.output<typeof emailConfirmation>;
