import { createHash, randomBytes } from 'node:crypto';
import { acceptInvitation } from '../../selling/members/invite';
import { askForDeletion } from '../../selling/members/account-deletion';
import { takeAttempt } from '../../selling/customers/attempts';
import { exportPerson } from '../../selling/customers/export-person';
import { askForPersonDeletion } from '../../selling/members/person-deletion';
import { writeAudit } from '../../selling/customers/write-audit';
import { findMemberships } from '../../selling/members/find-memberships';
import { findInvitationHash, listInvitationsTo } from '../../selling/members/invitation-view';
import type { accountEndpoints } from '../contract/account';
import type { Handlers } from '../http/bind-endpoint';
import { Refusal } from '../http/refusal';
import { deletionMail, allowChangeMail, changedMail, proveAddressMail } from '../mail/account-mails';
import type { PersonTools } from './person';
import { askForEmailChange, confirmEmailChange, isAddressTaken } from '../../selling/customers/email-change';
import { findOperator } from '../../selling/operators/find-operator';
import { invalidInput } from '../../kit/errors';
import { takeRequest } from '../http/request-limit';
import type { Mail } from '../http/dashboard-deps';
import { knownAddressMail } from '../mail/mail-texts';

const UNUSABLE = 'This invitation was accepted or revoked, or has expired. Ask for a new one.';

/** An hour. Each reads everything. */
const MAX_EXPORTS = 3;
const HOUR_S = 3_600;

/** What a person may do with their own account. */
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

    /** Works without the mail's link: the address is verified, and only its owner sees the invitation here. */
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
      // The account is stopped even if the mail does not arrive.
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

const LINK_UNUSABLE = 'This link does not work: it is more than an hour old, was already used, or is incomplete. Ask for the change again.';

/** A minute, for one address. Each opens a transaction. Tokens cannot be guessed. */
const MAX_CONFIRMATIONS = 60;

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
const newToken = (): string => randomBytes(32).toString('base64url');

/** Mail is sent after the response, because its duration would reveal whether the address has an account. */
function sendLater({ mail, log }: Pick<PersonTools, 'mail' | 'log'>, each: Mail): void {
  void mail.send(each).catch((err: unknown) => log.warn({ err }, 'a mail about a change of address could not be sent'));
}

async function mailNewAddress(tools: PersonTools, { email, link }: { email: string; link: string }): Promise<void> {
  if (!(await isAddressTaken(tools.db, email))) sendLater(tools, proveAddressMail(email, link, tools.mail.installation));
  else if (!(await findOperator(tools.db, { email })))
    sendLater(tools, knownAddressMail(email, `${tools.url}/sign-in`, tools.mail.installation));
}

type EmailEndpoints = Pick<typeof accountEndpoints, 'POST /account/email' | 'POST /account/email/confirm'>;

/** Changes the address of the own account. */
function emailHandlers(tools: PersonTools): Handlers<EmailEndpoints> {
  const linkOf = (token: string): string => `${tools.url}/confirm-email?token=${encodeURIComponent(token)}`;
  return {
    'POST /account/email': async ({ caller, body, request }, { db }) => {
      const { email, userId, sessionId } = caller;
      if (body.email === email.toLowerCase()) throw invalidInput([{ field: 'email', message: 'is your address already' }]);
      await caller.confirm(body.password);
      await tools.limits.takeMail('address', email, request.ip);
      await tools.limits.takeMail('address', body.email, request.ip);
      const tokens = { old: newToken(), new: newToken() };
      const hashes = { oldToken: hashOf(tokens.old), newToken: hashOf(tokens.new) };
      await askForEmailChange(db, { userId, sessionId, newEmail: body.email, ...hashes });
      sendLater(tools, allowChangeMail(email, { newEmail: body.email, link: linkOf(tokens.old) }, tools.mail.installation));
      await mailNewAddress(tools, { email: body.email, link: linkOf(tokens.new) });
      return { email: body.email };
    },

    /** Needs no session: the link may be opened in any browser. */
    'POST /account/email/confirm': async ({ body: { token }, request }, { db }) => {
      await takeRequest(db, { kind: 'email-confirm', customerId: request.ip, mostPerMinute: MAX_CONFIRMATIONS });
      const confirmed = await confirmEmailChange(db, { token: hashOf(token), from: request.ip });
      if (!confirmed) throw new Refusal('link_unusable', { detail: LINK_UNUSABLE });
      if (confirmed.state === 'changed') {
        for (const to of [confirmed.before, confirmed.after]) sendLater(tools, changedMail(to, confirmed.after, tools.mail.installation));
      }
      return { state: confirmed.state };
    },
  };
}
