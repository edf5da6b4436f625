import { type RequestRemoval } from '../config/request-removal';
import { parseQueryArgs } from '../http/query-args';
import { type HttpExchange } from '../http/http-exchange';

/** Removes headers (in any case) and arguments (by their decoded names) from the request that goes to the service. */
export function removeFromRequest(exchange: HttpExchange, { headers, querystring }: RequestRemoval): void {
  for (const name of headers) exchange.headers.remove(name.toLowerCase());
  if (querystring.length === 0 || exchange.rawQuery === '') return;
  const kept = exchange.rawQuery.split('&').filter((part) => {
    const [[name] = ['']] = parseQueryArgs(part, 1);
    return !querystring.includes(name);
  });
  exchange.upstream.query = kept.join('&');
}
