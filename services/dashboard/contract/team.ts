import { z } from 'zod';
import { PERMISSIONS, ROLES } from '../../selling/members/member-roles';
import { type Endpoints } from './endpoint';
import { id, moment } from './fields';

export const role = z.enum(ROLES);
export type Role = z.input<typeof role>;
export const permission = z.enum(PERMISSIONS);
export type Permission = z.input<typeof permission>;
/** A person who is invited is no owner at first. */
export const invitedRole = role.exclude(['owner']);
export type InvitedRole = z.input<typeof invitedRole>;

/** Somebody who is in the organisation. */
const member = z.object({ userId: id, email: z.string(), role, since: moment, /** The person who asks. */ isYou: z.boolean() });
export type Member = z.input<typeof member>;

/** An open invitation, without its link. */
const invitation = z.object({
  id,
  email: z.string(),
  role: invitedRole,
  /** Null once that account is gone. */
  invitedBy: z.string().nullable(),
  sentAt: moment,
  expiresAt: moment,
  hasExpired: z.boolean(),
});
export type Invitation = z.input<typeof invitation>;

/** Owners first, then by address; invitations newest first. */
const team = z.object({
  /** Its name, else its email address. */
  organisation: z.string(),
  /** Null: it goes by its email address. */
  name: z.string().nullable(),
  members: z.array(member),
  invitations: z.array(invitation),
});

/** Characters that embed text or change its direction: in a mail they would change the words around them. Letters of every script are welcome. */
const UNWANTED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069<>]|:\/\//u;

/** What the organisation is to be called; null for its email address. It stands in mails to strangers, and is no place for links. */
const organisationName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine((name) => !UNWANTED.test(name), 'must not contain control characters, angle brackets or links')
  .nullable();

const email = z.string().trim().max(254).toLowerCase().pipe(z.email('must be an email address'));

/** False: the invitation stands, but its mail could not be sent. It can be sent again. */
const sentInvitation = z.object({ invitation, isMailed: z.boolean() });
export type SentInvitation = z.input<typeof sentInvitation>;

/** What anyone with the link of an invitation sees. */
const invitationOffer = z.object({
  organisation: z.string(),
  email: z.string(),
  role: invitedRole,
  invitedBy: z.string().nullable(),
  /** Address of the person who is signed in in this browser; null: none. */
  signedInAs: z.string().nullable(),
});
export type InvitationOffer = z.input<typeof invitationOffer>;

/** An organisation that the signed-in person can switch to. */
export const ownMembership = z.object({ customerId: id, organisation: z.string(), role });

const changing = { for: 'members', needs: 'members' } as const;

/** Members of the organisation, and their roles. */
export const teamEndpoints = {
  'GET /team': { for: 'members', needs: 'read', summary: 'Show members and invitations', answer: team },
  'PUT /team/name': {
    ...changing,
    summary: 'Name the organisation',
    body: z.object({ name: organisationName }),
    answer: z.object({ organisation: z.string(), name: z.string().nullable() }),
  },
  'POST /team/invitations': {
    ...changing,
    summary: 'Invite somebody',
    body: z.object({ email, role: invitedRole }),
    answer: sentInvitation,
    refuses: ['member_exists', 'invitation_exists', 'invitation_limit_reached'],
  },
  'POST /team/invitations/:id/resend': {
    ...changing,
    summary: 'Send an invitation again',
    answer: sentInvitation,
    refuses: ['invitation_unknown', 'member_exists'],
  },
  'POST /team/invitations/:id/revoke': {
    ...changing,
    whileSuspended: true,
    summary: 'Revoke an invitation',
    refuses: ['invitation_unknown'],
  },
  'PUT /team/members/:userId/role': {
    ...changing,
    summary: 'Give a member another role',
    body: z.object({ role }),
    answer: member,
    refuses: ['member_unknown', 'owner_needed', 'last_owner', 'member_leaving'],
  },
  'DELETE /team/members/:userId': {
    ...changing,
    whileSuspended: true,
    summary: 'Remove a member',
    refuses: ['member_unknown', 'owner_needed', 'last_owner'],
  },
  'POST /team/leave': { for: 'members', whileSuspended: true, needs: 'own', summary: 'Leave the organisation', refuses: ['last_owner'] },
  'POST /team/transfer': {
    for: 'members',
    needs: 'ownership',
    summary: 'Make another member the owner',
    body: z.object({ userId: id }),
    answer: member,
    refuses: ['member_unknown', 'owner_needed', 'member_leaving', 'member_exists'],
  },
} as const satisfies Endpoints;

/** The token of an invitation's link. */
const invitationToken = z.object({ token: z.string().min(1).max(200) });

/** What a person does between organisations, whatever their role in each. */
export const organisationEndpoints = {
  'POST /invitation': {
    for: 'everybody',
    summary: 'Show what the link of an invitation opens',
    body: invitationToken,
    answer: invitationOffer,
    refuses: ['invitation_unknown'],
  },
  'POST /invitation/accept': {
    for: 'accounts',
    summary: 'Accept an invitation',
    body: invitationToken,
    answer: ownMembership,
    refuses: ['invitation_unknown', 'invitation_for_another', 'member_limit_reached'],
  },
  'POST /organisation': {
    for: 'accounts',
    summary: 'Switch to another organisation',
    body: z.object({ customerId: id }),
    answer: ownMembership,
    refuses: ['not_found'],
  },
} as const satisfies Endpoints;
