import type * as Library from '@simplewebauthn/browser';
import { ApiProblem } from '../api/api-problem';

/** What a device is asked when a passkey is made, and when somebody signs in with one. */
export type CreationOptions = Library.PublicKeyCredentialCreationOptionsJSON;
export type RequestOptions = Library.PublicKeyCredentialRequestOptionsJSON;

/** Whether this browser knows passkeys at all. */
export const knowsPasskeys = (): boolean => typeof window.PublicKeyCredential === 'function';

/** Browsers tell a refusal from a time-out to nobody. */
const NOTHING_CHOSEN = 'No passkey was used: the request was cancelled, or took too long. Try again.';

/** By the library's words. */
const TEXTS: Readonly<Record<string, string>> = {
  ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED: 'This device has a passkey of your account already.',
  ERROR_AUTHENTICATOR_MISSING_DISCOVERABLE_CREDENTIAL_SUPPORT: 'This security key cannot keep a passkey. Use another one.',
  ERROR_AUTHENTICATOR_MISSING_USER_VERIFICATION_SUPPORT:
    'Your device cannot check that it is you. Set up its screen lock, fingerprint or PIN.',
};

function problemOf(error: unknown): ApiProblem {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return new ApiProblem(400, 'passkey_not_used', (typeof code === 'string' ? TEXTS[code] : undefined) ?? NOTHING_CHOSEN);
}

/** The library, which only those load who use a passkey. @throws ApiProblem when it cannot be loaded */
async function load(): Promise<typeof Library> {
  try {
    return await import('@simplewebauthn/browser');
  } catch {
    throw new ApiProblem(0, 'unreachable', 'This page could not be loaded in full. Check your connection and try again.');
  }
}

/** Has the device make a passkey. @returns its answer, for the server @throws ApiProblem */
export async function makePasskey(optionsJSON: CreationOptions): Promise<unknown> {
  const { startRegistration } = await load();
  return startRegistration({ optionsJSON }).catch((error: unknown) => Promise.reject(problemOf(error)));
}

/** Has the device show a passkey that it keeps for this site. @returns its answer, for the server @throws ApiProblem */
export async function showPasskey(optionsJSON: RequestOptions): Promise<unknown> {
  const { startAuthentication } = await load();
  return startAuthentication({ optionsJSON }).catch((error: unknown) => Promise.reject(problemOf(error)));
}
