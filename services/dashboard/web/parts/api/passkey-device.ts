import {
  type AuthenticationResponseJSON,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';

/** Browsers do not tell a page whether the person refused or time ran out. */
const NOTHING_CHOSEN = 'No passkey was used: the request was cancelled, or took too long. Try again.';

/** Texts by the library's codes. */
const TEXTS: Readonly<Record<string, string>> = {
  ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED: 'This device has a passkey of your account already.',
  ERROR_AUTHENTICATOR_MISSING_DISCOVERABLE_CREDENTIAL_SUPPORT: 'This security key cannot keep a passkey. Use another one.',
  ERROR_AUTHENTICATOR_MISSING_USER_VERIFICATION_SUPPORT:
    'Your device cannot verify that it is you. Set up its screen lock, fingerprint or PIN.',
};

function inWords(error: unknown): Error {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return new Error((typeof code === 'string' ? TEXTS[code] : undefined) ?? NOTHING_CHOSEN);
}

/** Has the device make a passkey. @throws Error in words for the person */
export function make(optionsJSON: PublicKeyCredentialCreationOptionsJSON): Promise<RegistrationResponseJSON> {
  return startRegistration({ optionsJSON }).catch((error: unknown) => Promise.reject(inWords(error)));
}

/** Has the device show a passkey. @throws Error in words for the person */
export function show(optionsJSON: PublicKeyCredentialRequestOptionsJSON): Promise<AuthenticationResponseJSON> {
  return startAuthentication({ optionsJSON }).catch((error: unknown) => Promise.reject(inWords(error)));
}
