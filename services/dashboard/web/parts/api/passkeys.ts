import { makePasskey, showPasskey } from './passkey';
import { call } from './request';

/**
 * Signs in with a passkey of the device, for whichever account it is.
 * @throws ApiProblem
 */
export async function signInWithPasskey(): Promise<void> {
  const asked = await call('POST /auth/sign-in/passkey/options');
  await call('POST /auth/sign-in/passkey', { body: { response: await showPasskey(asked) } });
}

/**
 * @param name that its owner gives it
 * @throws ApiProblem
 */
export async function addPasskey(name: string, password: string): Promise<void> {
  const asked = await call('POST /account/passkeys/options', { body: { password } });
  await call('POST /account/passkeys', { body: { name, response: await makePasskey(asked) } });
}
