import { type TryBody, type tryEndpoints } from '../../contract/try';
import { type Handlers } from '../../http/bind-endpoint';
import { invalidInput } from '../../../kit/errors';
import { isPublishedPath } from './published-path';
import { refuseSubscribingByRole } from '../../http/require-member';
import { prepareTryKey } from './try-key';

/** The body that the page sends, if any. */
export function bytesOf({ body, bodyBase64 }: Pick<TryBody, 'body' | 'bodyBase64'>): Buffer | undefined {
  if (bodyBase64 !== undefined) return Buffer.from(bodyBase64, 'base64');
  return body === undefined ? undefined : Buffer.from(body);
}

/**
 * Tries a call with a test key. Pages cannot make the call themselves, because the gateway lets no other site's pages read its responses.
 * The gateway sees the dashboard's address as the caller's.
 */
export const tryHandlers: Handlers<typeof tryEndpoints> = {
  'POST /try': async ({ body: call, caller }, deps) => {
    const { product = '', consent, method, path, query, headers, contentType } = call;
    if (!isPublishedPath(path, await deps.catalogue())) throw invalidInput([{ field: 'path', message: 'must be a route of the API' }]);
    if (product !== '') await refuseSubscribingByRole([product], caller, deps);
    const key = call.key ?? (await prepareTryKey({ product, consent }, caller, deps));
    return deps.gateway.call(caller.customerId, { key, method, path, query, headers, contentType, body: bytesOf(call) });
  },
};
