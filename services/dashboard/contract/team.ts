import { z } from 'zod';
import { PERMISSIONS, ROLES } from '../../../plugins/core/selling/member-roles';
import { id, moment } from './fields';

export const role = z.enum(ROLES);
export type Role = z.output<typeof role>;
export const permission = z.enum(PERMISSIONS);
export type Permission = z.output<typeof permission>;
/** Whoever is invited owns nothing at first. */
export const invitedRole = role.exclude(['owner']);
export type InvitedRole = z.output<typeof invitedRole>;

/** Somebody who is in the organisation. */
export const member = z.object({ userId: id, email: z.string(), role, since: moment, /** Whoever asks. */ isYou: z.boolean() });
export type Member = z.output<typeof member>;

/** One that is open: never its link. */
export const invitation = z.object({
  id,
  email: z.string(),
  role: invitedRole,
  /** Null once that account is gone. */
  invitedBy: z.string().nullable(),
  sentAt: moment,
  expiresAt: moment,
  hasExpired: z.boolean(),
});
export type Invitation = z.output<typeof invitation>;

/** Owners first, then by address; invitations newest first. */
export const team = z.object({
  /** Its name, else its e-mail address. */
  organisation: z.string(),
  /** Null: it goes by its e-mail address. */
  name: z.string().nullable(),
  members: z.array(member),
  invitations: z.array(invitation),
});
export type Team = z.output<typeof team>;

/** Of whoever embeds text or changes its direction: in a mail nothing keeps them from the words around. Letters of every script are welcome. */
const UNWANTED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069<>]|:\/\//u;

/** What the organisation is to be called; null for its e-mail address. It stands in mails to strangers, and is no place for links. */
export const renameBody = z.object({
  name: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine((name) => !UNWANTED.test(name), 'must not hold control characters, angle brackets or links')
    .nullable(),
});
export const organisationName = z.object({ organisation: z.string(), name: z.string().nullable() });

const email = z.string().trim().max(254).toLowerCase().pipe(z.email('must be an e-mail address'));
export const inviteBody = z.object({ email, role: invitedRole });

/** False: the invitation stands, and its mail could not be sent; it can be sent again. */
export const sentInvitation = z.object({ invitation, isMailed: z.boolean() });
export type SentInvitation = z.output<typeof sentInvitation>;

export const roleBody = z.object({ role });
export const transferBody = z.object({ userId: id });

/** The token of an invitation's link. */
export const invitationToken = z.object({ token: z.string().min(1).max(200) });

/** What the link of an invitation opens, for whoever has it. */
export const invitationOffer = z.object({
  organisation: z.string(),
  email: z.string(),
  role: invitedRole,
  invitedBy: z.string().nullable(),
  /** Address of who is signed in in this browser; null: nobody. */
  signedInAs: z.string().nullable(),
});
export type InvitationOffer = z.output<typeof invitationOffer>;

/** An organisation of whoever is signed in, to switch to. */
export const ownMembership = z.object({ customerId: id, organisation: z.string(), role });
export type OwnMembership = z.output<typeof ownMembership>;
export const switchBody = z.object({ customerId: id });
