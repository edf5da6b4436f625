import type * as Library from '@simplewebauthn/browser';
import type * as Device from './passkey-device';
import { ApiProblem } from './api-problem';

/** Whether this browser knows passkeys at all. */
export const knowsPasskeys = (): boolean => typeof window.PublicKeyCredential === 'function';

/**
 * Loads the code for the device, with its library, only when somebody uses a passkey.
 * @throws ApiProblem
 */
async function askDevice<Response>(use: (device: typeof Device) => Promise<Response>): Promise<Response> {
  try {
    return await use(await import('./passkey-device'));
  } catch (error) {
    throw new ApiProblem(400, 'passkey_not_used', error instanceof Error ? error.message : '');
  }
}

/**
 * Has the device make a passkey.
 * @returns its response, for the server
 * @throws ApiProblem
 */
export const makePasskey = (asked: Library.PublicKeyCredentialCreationOptionsJSON): Promise<Library.RegistrationResponseJSON> =>
  askDevice(({ make }) => make(asked));

/**
 * Has the device show a passkey that it keeps for this site.
 * @returns its response, for the server
 * @throws ApiProblem
 */
export const showPasskey = (asked: Library.PublicKeyCredentialRequestOptionsJSON): Promise<Library.AuthenticationResponseJSON> =>
  askDevice(({ show }) => show(asked));
