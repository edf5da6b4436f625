import { listPasskeys, notePasskeyUse } from '../../../selling/customers/passkeys';
import { ServiceError } from '../../../kit/errors';
import type { AnswerOf } from '../../contract/endpoints';
import type { passkeyEndpoints } from '../../contract/sign-in';
import type { Handlers } from '../../http/bind-endpoint';
import { Refusal } from '../../http/refusal';
import { passkeyAddedMail } from '../../mail/account-mails';
import { askAuth, passOn, requireDatabase, welcome } from '../auth-handler';
import { nameOf } from '../auth-options';
import { noteAccount } from '../note-account';
import type { PersonTools } from '../person';
import { findSignedIn } from '../second-factor';

/** More than a person has devices. */
const MAX_PASSKEYS = 20;
const ENOUGH = `Your account has ${MAX_PASSKEYS} passkeys already. Remove one first.`;

/**
 * Adds a passkey to the own account, and signs in with one. Each takes two requests, because the device signs the response of the first.
 */
export function passkeyHandlers(tools: PersonTools): Handlers<typeof passkeyEndpoints> {
  const { mail } = tools;
  return {
    /**
     * The signature is accepted only from this browser and account, once, within 5 minutes: whoever sends it has shown the password here.
     */
    'POST /account/passkeys/options': async ({ caller, body: { password }, request, reply }, { db }) => {
      await caller.confirm(password);
      if ((await listPasskeys(db, caller.userId)).length >= MAX_PASSKEYS) throw new Refusal('passkey_limit_reached', { detail: ENOUGH });
      const question = { method: 'GET', path: '/api/auth/passkey/generate-register-options' } as const;
      const asked = await passOn<AnswerOf<'POST /account/passkeys/options'>>(await askAuth(request, question, tools), reply);
      // better-auth has the name with which the process began, and the brand can change.
      return { ...asked, rp: { ...asked.rp, name: nameOf(mail) } };
    },

    /** Keeps the device's new passkey. The owner gets a mail, because it opens the account from now on. */
    'POST /account/passkeys': async ({ caller: { email }, body, request }, { db, log }) => {
      const question = { method: 'POST', path: '/api/auth/passkey/verify-registration', body } as const;
      await askAuth(request, question, tools).catch(async (error: unknown) => {
        await requireDatabase(db);
        throw passkeyProblem(error, new Refusal('passkey_unfit'));
      });
      await noteAccount(db, { action: 'account.passkey_add', email, from: request.ip, details: { passkey: body.name } });
      await mail
        .send(passkeyAddedMail(email, body.name, mail.installation))
        .catch((err: unknown) => log.warn({ err }, 'a person could not be told by mail of a new passkey'));
      return {};
    },

    /** better-auth's default does not require that the device checks the person. */
    'POST /auth/sign-in/passkey/options': async ({ request, reply }) => {
      const question = { method: 'GET', path: '/api/auth/passkey/generate-authenticate-options' } as const;
      const asked = await passOn<AnswerOf<'POST /auth/sign-in/passkey/options'>>(await askAuth(request, question, tools), reply);
      return { ...asked, userVerification: 'required' };
    },

    /** A person who has the device, and whom the device has checked, is signed in without a password or a code. */
    'POST /auth/sign-in/passkey': async ({ body, request, reply }, { db }) => {
      const question = { method: 'POST', path: '/api/auth/passkey/verify-authentication', body } as const;
      const response = await askAuth(request, question, tools).catch(async (error: unknown) => {
        await requireDatabase(db);
        throw passkeyProblem(error, new Refusal('passkey_unknown'));
      });
      const person = await findSignedIn(response);
      if (!person) throw new ServiceError('processing_failed');
      const { email } = person;
      const name = await notePasskeyUse(db, body.response.id);
      await welcome({ email, from: request.ip }, tools);
      await noteAccount(db, { action: 'account.sign_in', email, from: request.ip, details: { passkey: name } });
      reply.header('set-cookie', response.headers.getSetCookie());
      return { status: true };
    },
  };
}

/** better-auth's codes for a device's response that does not fit the request or any passkey. */
const UNFIT = new Set(['failed_to_verify_registration', 'authentication_failed', 'passkey_not_found']);

/** better-auth's code for a failure, in small letters. One of its errors has it only in its cause. */
function codeOf(error: unknown): string {
  if (error instanceof Refusal) return error.options.code ?? '';
  if (!(error instanceof ServiceError)) return '';
  return (error.cause instanceof Error ? error.cause.message : error.message).toLowerCase();
}

/**
 * Turns better-auth's error into a response that says what to do. Any other error stays as it is.
 * @param unfit for a device's response that does not fit
 */
function passkeyProblem(error: unknown, unfit: Error): unknown {
  const code = codeOf(error);
  if (UNFIT.has(code)) return unfit;
  if (code === 'challenge_not_found') return new Refusal('passkey_expired');
  if (code === 'person_unverified' || code === 'operators_password') return new Refusal(code);
  return error;
}
