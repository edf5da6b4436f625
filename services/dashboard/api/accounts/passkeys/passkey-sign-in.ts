import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { notePasskeyUse } from '../../../../../plugins/stores/postgres/customers/passkeys';
import { ServiceError } from '../../../../kit/errors';
import { signInPasskeyBody } from '../../../contract/sign-in';
import { readBody } from '../../http/bind-endpoint';
import { Refusal } from '../../http/refusal';
import { askAuth, type AuthTools, requireDatabase, welcome } from '../auth-handler';
import { noteAccount } from '../note-account';
import { findSignedIn } from '../second-factor';
import { passkeyProblem } from './passkey-problem';

const UNKNOWN =
  'This passkey opens no account here; it may have been removed. Sign in another way, and look at the passkeys of your account.';

/** What the device shall sign, asked of better-auth. That it must check who is there is not better-auth's default. */
async function beginHandler(request: FastifyRequest, reply: FastifyReply, tools: AuthTools): Promise<FastifyReply> {
  const response = await askAuth(request, { method: 'GET', path: '/api/auth/passkey/generate-authenticate-options' }, tools);
  const asked: unknown = await response.json();
  if (typeof asked !== 'object' || asked === null) throw new ServiceError('processing_failed');
  return reply.header('set-cookie', response.headers.getSetCookie()).send({ ...asked, userVerification: 'required' });
}

/** Whoever has the device, and has shown it who is there, is signed in: no password and no code is asked for. */
async function signInHandler(request: FastifyRequest, reply: FastifyReply, tools: AuthTools): Promise<FastifyReply> {
  const body = readBody(request, signInPasskeyBody);
  const question = { method: 'POST', path: '/api/auth/passkey/verify-authentication', body } as const;
  const response = await askAuth(request, question, tools).catch(async (error: unknown) => {
    await requireDatabase(tools.db);
    throw passkeyProblem(error, new Refusal('not_signed_in', { code: 'passkey_unknown', title: 'Passkey not known', detail: UNKNOWN }));
  });
  const person = await findSignedIn(response);
  if (!person) throw new ServiceError('processing_failed');
  const { email } = person;
  const name = await notePasskeyUse(tools.db, body.response.id);
  await welcome({ email, from: request.ip }, tools);
  await noteAccount(tools.db, { action: 'account.sign_in', email, from: request.ip, details: { passkey: name } });
  return reply.header('set-cookie', response.headers.getSetCookie()).send({ status: true });
}

/** Two requests, for the device signs what the first one answers. */
export function addPasskeySignIn(app: FastifyInstance, tools: AuthTools): void {
  app.post('/api/auth/sign-in/passkey/options', (request, reply) => beginHandler(request, reply, tools));
  app.post('/api/auth/sign-in/passkey', (request, reply) => signInHandler(request, reply, tools));
}
