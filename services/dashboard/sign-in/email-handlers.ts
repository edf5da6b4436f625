import { createHash, randomBytes } from 'node:crypto';
import { askForEmailChange, confirmEmailChange, isAddressTaken } from '../../selling/customers/email-change';
import { findOperator } from '../../selling/operators/find-operator';
import { invalidInput } from '../../kit/errors';
import { type accountEndpoints } from '../contract/account';
import { type Handlers } from '../http/bind-endpoint';
import { Refusal } from '../http/refusal';
import { takeRequest } from '../http/request-limit';
import { allowChangeMail, changedMail, proveAddressMail } from '../mail/account-mails';
import { type Mail } from '../http/dashboard-deps';
import { knownAddressMail } from '../mail/mail-texts';
import { type PersonTools } from './person';

const LINK_UNUSABLE = 'This link does not work: it is more than an hour old, was used already, or is incomplete. Ask for the change again.';

/** A minute, of one address: each opens a transaction. Tokens cannot be guessed. */
const MAX_CONFIRMATIONS = 60;

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
const newToken = (): string => randomBytes(32).toString('base64url');

/** Mail goes out after the answer: how long it takes would tell whether the address has an account. */
function sendLater({ mail, log }: Pick<PersonTools, 'mail' | 'log'>, each: Mail): void {
  void mail.send(each).catch((err: unknown) => log.warn({ err }, 'a mail about a change of address could not be sent'));
}

async function mailNewAddress(tools: PersonTools, { email, link }: { email: string; link: string }): Promise<void> {
  if (!(await isAddressTaken(tools.db, email))) sendLater(tools, proveAddressMail(email, link, tools.mail.installation));
  else if (!(await findOperator(tools.db, { email })))
    sendLater(tools, knownAddressMail(email, `${tools.url}/sign-in`, tools.mail.installation));
}

type EmailEndpoints = Pick<typeof accountEndpoints, 'POST /account/email' | 'POST /account/email/confirm'>;

/** Another address of the own account. */
export function emailHandlers(tools: PersonTools): Handlers<EmailEndpoints> {
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

    /** Needs no session: the link is opened wherever the mail is read. */
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
