import { type RequestRemoval } from '../config/request-removal';
import { type HttpExchange } from '../http/http-exchange';

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
