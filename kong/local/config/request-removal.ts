import { z } from 'zod';
import { type HttpExchange } from '../http/http-exchange';

/** The part of Kong's bundled plugin of this name that is implemented here: removing parts of a request. */
export const REQUEST_TRANSFORMER = 'request-transformer';

/** Its priority among Kong's plugins. */
export const REQUEST_TRANSFORMER_PRIORITY = 801;

const names = z.array(z.string().min(1)).default([]);

/** The plugin's configuration. Anything else in it is refused, because the local gateway would not apply it. */
export const requestRemoval = z.strictObject({ remove: z.strictObject({ headers: names, querystring: names }) });

export type RequestRemoval = z.output<typeof requestRemoval>['remove'];

/** Removes headers (in any case) and arguments (by their decoded names) from the request that goes to the service. */
export function removeFromRequest(exchange: HttpExchange, { headers, querystring }: RequestRemoval): void {
  for (const name of headers) exchange.headers.remove(name.toLowerCase());
  if (querystring.length === 0 || exchange.rawQuery === '') return;
  const kept = exchange.rawQuery.split('&').filter((part) => !querystring.includes(decodeArg(part.split('=', 1)[0] ?? '')));
  exchange.upstream.query = kept.join('&');
}

/** Decodes as `ngx.req.get_uri_args` does: bytes, not characters. The result is a byte string, and a broken triplet stays as it is. */
function decodeArg(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  return spaced.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
