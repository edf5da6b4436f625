import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { listPasskeys } from '../../../../../plugins/stores/postgres/customers/passkeys';
import { removePasskey } from '../../../../../plugins/stores/postgres/customers/ways-to-sign-in';
import { ServiceError } from '../../../../kit/errors';
import { passwordProof } from '../../../contract/account';
import { addPasskeyBody, removePasskeyBody, wayParams } from '../../../contract/sign-in';
import { readBody } from '../../http/bind-endpoint';
import { type Route } from '../../http/define-endpoint';
import { Refusal } from '../../http/refusal';
import { passkeyAddedMail } from '../../mail/account-mails';
import { askAuth, requireDatabase, send } from '../auth-handler';
import { noteAccount } from '../note-account';
import { definePersonEndpoint, findPerson, type Person, type PersonTools, takePersonWrite } from '../person';
import { passkeyProblem } from './passkey-problem';

/** As many as a person has devices, and some to spare. */
const MOST_PASSKEYS = 20;

const ENOUGH = `Your account has ${MOST_PASSKEYS} passkeys already. Remove one first.`;
const UNFIT = 'Your device’s answer does not fit what it was asked, or another account has this passkey. Try again.';

export const removePasskeyEndpoint: Route<Person> = definePersonEndpoint({
  method: 'DELETE',
  path: '/account/passkeys/:id',
  params: wayParams,
  body: removePasskeyBody,
  handler: async ({ caller, params, body }, { db }) => {
    await caller.confirm(body.password);
    await removePasskey(db, { ...caller, wayId: params.id });
    return {};
  },
});

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * What the device shall make and sign. The answer to it is taken from this browser and this account alone, once, within 5 minutes: whoever
 * gives it has shown the password here.
 */
function beginHandler(tools: PersonTools): Handler {
  return async (request, reply) => {
    const caller = await findPerson(request, reply, tools);
    await takePersonWrite(tools.db, caller);
    const { password } = readBody(request, passwordProof);
    await caller.confirm(password);
    if ((await listPasskeys(tools.db, caller.userId)).length >= MOST_PASSKEYS) {
      throw new Refusal('conflict', { code: 'passkey_limit_reached', detail: ENOUGH });
    }
    return send(await askAuth(request, { method: 'GET', path: '/api/auth/passkey/generate-register-options' }, tools), reply);
  };
}

/** Keeps what the device has made. The owner is told: from here on it opens the account. */
function addHandler(tools: PersonTools): Handler {
  const { db, mail, log } = tools;
  return async (request, reply) => {
    const caller = await findPerson(request, reply, tools);
    await takePersonWrite(db, caller);
    const body = readBody(request, addPasskeyBody);
    const { email } = caller;
    await askAuth(request, { method: 'POST', path: '/api/auth/passkey/verify-registration', body }, tools).catch(async (error: unknown) => {
      await requireDatabase(db);
      throw passkeyProblem(error, new ServiceError('invalid_request', { code: 'passkey_unfit', detail: UNFIT }));
    });
    await noteAccount(db, { action: 'account.passkey_add', email, from: request.ip, details: { passkey: body.name } });
    await mail
      .send(passkeyAddedMail(email, body.name, mail.installation))
      .catch((err: unknown) => log.warn({ err }, 'a person could not be told by mail of a new passkey'));
    return reply.send({});
  };
}

/** Adding a passkey to the own account, in two requests: the device signs what the first one answers. */
export function addPasskeyRoutes(app: FastifyInstance, tools: PersonTools): void {
  app.post('/api/account/passkeys/options', beginHandler(tools));
  app.post('/api/account/passkeys', addHandler(tools));
}
