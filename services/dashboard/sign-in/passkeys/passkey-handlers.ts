import { listPasskeys, notePasskeyUse } from '../../../selling/customers/passkeys';
import { ServiceError } from '../../../kit/errors';
import type { Answer } from '../../contract/endpoints';
import type { passkeyEndpoints } from '../../contract/sign-in';
import type { Handlers } from '../../http/bind-endpoint';
import { Refusal } from '../../http/refusal';
import { passkeyAddedMail } from '../../mail/account-mails';
import { askAuth, passOn, requireDatabase, welcome } from '../auth-handler';
import { noteAccount } from '../note-account';
import type { PersonTools } from '../person';
import { findSignedIn } from '../second-factor';

/** As many as a person has devices, and some to spare. */
const MAX_PASSKEYS = 20;
const ENOUGH = `Your account has ${MAX_PASSKEYS} passkeys already. Remove one first.`;

/** Adding a passkey to the own account, and signing in with one: each in two requests, since the device signs what the first one answers. */
export function passkeyHandlers(tools: PersonTools): Handlers<typeof passkeyEndpoints> {
  const { mail } = tools;
  return {
    /**
     * The answer is taken from this browser and this account alone, once, within 5 minutes: anyone who gives it has shown the password here.
     */
    'POST /account/passkeys/options': async ({ caller, body: { password }, request, reply }, { db }) => {
      await caller.confirm(password);
      if ((await listPasskeys(db, caller.userId)).length >= MAX_PASSKEYS) throw new Refusal('passkey_limit_reached', { detail: ENOUGH });
      return passOn(await askAuth(request, { method: 'GET', path: '/api/auth/passkey/generate-register-options' }, tools), reply);
    },

    /** Keeps what the device has made. The owner is told: from here on it opens the account. */
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

    /** That the device must check who is there is not better-auth's default. */
    'POST /auth/sign-in/passkey/options': async ({ request, reply }) => {
      const question = { method: 'GET', path: '/api/auth/passkey/generate-authenticate-options' } as const;
      const asked = await passOn<Answer<'POST /auth/sign-in/passkey/options'>>(await askAuth(request, question, tools), reply);
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

/** better-auth's words for an answer of a device that does not fit what was asked, or fits no passkey. */
const UNFIT = new Set(['failed_to_verify_registration', 'authentication_failed', 'passkey_not_found']);

/** better-auth's word for what went wrong, in small letters; one of its faults has it in its cause alone. */
function codeOf(error: unknown): string {
  if (error instanceof Refusal) return error.options.code ?? '';
  if (!(error instanceof ServiceError)) return '';
  return (error.cause instanceof Error ? error.cause.message : error.message).toLowerCase();
}

/**
 * What better-auth threw, as an answer that says what to do; anything else as it is.
 * @param unfit for a device's answer that does not fit
 */
function passkeyProblem(error: unknown, unfit: Error): unknown {
  const code = codeOf(error);
  if (UNFIT.has(code)) return unfit;
  if (code === 'challenge_not_found') return new Refusal('passkey_expired');
  if (code === 'person_unverified' || code === 'operators_password') return new Refusal(code);
  return error;
}
