import { type CreationOptions, makePasskey, type RequestOptions, showPasskey } from '../browser/passkey';
import { post, remove } from './request';

/** Signs in with a passkey that the device keeps, whichever account it is of. @throws ApiProblem */
export async function signInWithPasskey(): Promise<void> {
  const asked = await post<RequestOptions>('/auth/sign-in/passkey/options');
  await post('/auth/sign-in/passkey', { response: await showPasskey(asked) });
}

/** @param name by which its owner tells it from others @throws ApiProblem */
export async function addPasskey(name: string, password: string): Promise<void> {
  const asked = await post<CreationOptions>('/account/passkeys/options', { password });
  await post('/account/passkeys', { name, response: await makePasskey(asked) });
}

/** Signs all other sessions out as well. */
export const removePasskey = (id: string, password: string): Promise<unknown> => remove(`/account/passkeys/${id}`, { password });
