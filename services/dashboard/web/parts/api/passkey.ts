import type * as Device from './passkey-device';
import { ApiProblem } from './api-problem';
import { call } from './request';

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
 * Signs in with a passkey of the device, for whichever account it is.
 * @throws ApiProblem
 */
export async function signInWithPasskey(): Promise<void> {
  const asked = await call('POST /auth/sign-in/passkey/options');
  const response = await askDevice(({ show }) => show(asked));
  await call('POST /auth/sign-in/passkey', { body: { response } });
}

/**
 * Has the device make a passkey, and adds it to the account.
 * @param name that its owner gives it
 * @throws ApiProblem
 */
export async function addPasskey(name: string, password: string): Promise<void> {
  const asked = await call('POST /account/passkeys/options', { body: { password } });
  const response = await askDevice(({ make }) => make(asked));
  await call('POST /account/passkeys', { body: { name, response } });
}
