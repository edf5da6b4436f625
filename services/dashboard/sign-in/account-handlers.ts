import { acceptInvitation } from '../../selling/members/accept-invitation';
import { askForDeletion } from '../../selling/members/account-deletion';
import { takeAttempt } from '../../selling/customers/attempts';
import { exportPerson } from '../../selling/customers/export-person';
import { askForPersonDeletion } from '../../selling/members/person-deletion';
import { writeAudit } from '../../selling/customers/write-audit';
import { findMemberships } from '../../selling/members/find-memberships';
import { findInvitationHash, listInvitationsTo } from '../../selling/members/invitations-to';
import { type accountEndpoints } from '../contract/account';
import { type Handlers } from '../http/bind-endpoint';
import { Refusal } from '../http/refusal';
import { deletionMail } from '../mail/account-mails';
import { emailHandlers } from './email-handlers';
import { type PersonTools } from './person';

const UNUSABLE = 'This invitation was accepted or revoked, or has expired. Ask for a new one.';

/** An hour: each reads everything. */
const MAX_EXPORTS = 3;
const HOUR_S = 3_600;

/** What a person may do with the own account. */
export function accountHandlers(tools: PersonTools): Handlers<typeof accountEndpoints> {
  const { mail, url } = tools;
  return {
    'GET /account': async ({ caller: { userId, email, hasSecondFactor } }, { db, timeZone: quotaTimeZone }) => ({
      email,
      hasSecondFactor,
      quotaTimeZone,
      isMember: (await findMemberships(db, { userId })).length > 0,
      invitations: await listInvitationsTo(db, email),
    }),

    /** Without the mail's link: the address is verified, and only its owner sees the invitation here. */
    'POST /account/invitations/:id/accept': async ({ caller: { userId, email, actor }, params: { id } }, { db }) => {
      const hash = await findInvitationHash(db, { id, email });
      if (hash === undefined) throw new Refusal('invitation_unknown', { detail: UNUSABLE });
      await acceptInvitation(db, { hash, user: { id: userId, email }, actor });
      return {};
    },

    /** Signing in within the grace undoes it, see keep-account.ts. */
    'POST /account/delete': async ({ caller, body }, { db, log }) => {
      await caller.confirm(body.password);
      const { userId, customerId, actor, email } = caller;
      const isPersonAlone = customerId === undefined;
      const erasedAt = isPersonAlone ? await askForPersonDeletion(db, userId) : await askForDeletion(db, { userId, customerId, actor });
      // The account is stopped whether the mail arrives or not.
      await mail
        .send(deletionMail(email, { erasedAt, signInPage: `${url}/sign-in`, isPersonAlone }, mail.installation))
        .catch((err: unknown) => log.warn({ err }, 'a deletion could not be confirmed by mail'));
      return { erasedAt: erasedAt.toISOString() };
    },

    'POST /account/export': async ({ caller, body }, { db, clock }) => {
      const { userId, customerId, actor } = caller;
      await caller.confirm(body.password);
      const wait = await takeAttempt(db, { key: `export|${userId}`, most: MAX_EXPORTS, windowSeconds: HOUR_S });
      if (wait !== undefined) throw new Refusal('too_many_attempts', { headers: { 'Retry-After': String(wait) } });
      if (customerId !== undefined)
        await writeAudit(db, { actor, action: 'account.export', subject: { kind: 'customer', id: customerId } });
      return { filename: 'tollgate-account.json', content: exportPerson(db, { userId, customerId, at: new Date(clock.now()) }) };
    },

    ...emailHandlers(tools),
  };
}
