import { createHash, randomBytes } from 'node:crypto';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { askForEmailChange, confirmEmailChange, isAddressTaken } from '../../../../plugins/stores/postgres/customers/email-change';
import { findOperator } from '../../../../plugins/stores/postgres/operators/find-operator';
import { invalidInput, ServiceError } from '../../../kit/errors';
import { emailChange, emailChangeBody, emailConfirmBody, type EmailConfirmation } from '../../contract/account';
import { readBody } from '../http/bind-endpoint';
import { type Route } from '../http/define-endpoint';
import { takeRequest } from '../http/request-limit';
import { allowChangeMail, changedMail, proveAddressMail } from '../mail/account-mails';
import { type Mail } from '../mail/mail-sender';
import { knownAddressMail } from '../mail/mail-texts';
import { definePersonEndpoint, type Person, type PersonTools } from './person';

const LINK_UNUSABLE = 'This link does not work: it is more than an hour old, was used already, or is incomplete. Ask for the change again.';

/** A minute, of one address: each opens a transaction. Tokens cannot be guessed. */
const MOST_CONFIRMATIONS = 60;

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
const newToken = (): string => randomBytes(32).toString('base64url');

/** Mail goes out after the answer: how long it takes would tell whether the address has an account. */
function sendLater({ mail, log }: Pick<PersonTools, 'mail' | 'log'>, each: Mail): void {
  void mail.send(each).catch((err: unknown) => log.warn({ err }, 'a mail about a change of address could not be sent'));
}

async function mailNewAddress(tools: PersonTools, { email, link }: { email: string; link: string }): Promise<void> {
  if (!(await isAddressTaken(tools.db, email))) sendLater(tools, proveAddressMail(email, link));
  else if (!(await findOperator(tools.db, { email }))) sendLater(tools, knownAddressMail(email, `${tools.url}/sign-in`));
}

/** Asks for another address of the own account: a link to each of the two, and nothing changes before both were opened. */
export function emailEndpoint(tools: PersonTools): Route<Person> {
  const linkOf = (token: string): string => `${tools.url}/confirm-email?token=${encodeURIComponent(token)}`;
  return definePersonEndpoint({
    method: 'POST',
    path: '/account/email',
    body: emailChangeBody,
    answer: emailChange,
    handler: async ({ caller, body }, { db }) => {
      const { email, userId, sessionId } = caller;
      if (body.email === email.toLowerCase()) throw invalidInput([{ field: 'email', message: 'is your address already' }]);
      await caller.confirm(body.password);
      await tools.limits.takeMail(email);
      await tools.limits.takeMail(body.email);
      const tokens = { old: newToken(), new: newToken() };
      const hashes = { oldToken: hashOf(tokens.old), newToken: hashOf(tokens.new) };
      await askForEmailChange(db, { userId, sessionId, newEmail: body.email, ...hashes });
      sendLater(tools, allowChangeMail(email, { newEmail: body.email, link: linkOf(tokens.old) }));
      await mailNewAddress(tools, { email: body.email, link: linkOf(tokens.new) });
      return { email: body.email };
    },
  });
}

/** Where both links lead. Whoever has one needs no session: it is opened wherever the mail is read. */
export function confirmEmailHandler(tools: PersonTools): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  return async (request, reply) => {
    await takeRequest(tools.db, { kind: 'email-confirm', customerId: request.ip, mostPerMinute: MOST_CONFIRMATIONS });
    const { token } = readBody(request, emailConfirmBody);
    const confirmed = await confirmEmailChange(tools.db, { token: hashOf(token), from: request.ip });
    if (!confirmed) throw new ServiceError('invalid_request', { code: 'link_unusable', detail: LINK_UNUSABLE });
    if (confirmed.state === 'changed') {
      for (const to of [confirmed.before, confirmed.after]) sendLater(tools, changedMail(to, confirmed.after));
    }
    return reply.send({ state: confirmed.state } satisfies EmailConfirmation);
  };
}
