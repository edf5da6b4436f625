import { z } from 'zod';
import { parseQueryArgs } from '../http/query-args';
import { type HttpExchange } from '../http/http-exchange';

/** Kong's own plugin of this name, as far as it is implemented here: what it takes off a request. */
export const REQUEST_TRANSFORMER = 'request-transformer';

/** Where Kong runs it among the others. */
export const REQUEST_TRANSFORMER_PRIORITY = 801;

const names = z.array(z.string().min(1)).default([]);

/** Of the plugin's configuration; anything else in it is refused, because it would not happen. */
export const requestRemoval = z.strictObject({ remove: z.strictObject({ headers: names, querystring: names }) });

export type RequestRemoval = z.output<typeof requestRemoval>['remove'];

/** Takes headers (in any case) and arguments (by their decoded names) off the request that goes to the service. */
export function removeFromRequest(exchange: HttpExchange, { headers, querystring }: RequestRemoval): void {
  for (const name of headers) exchange.headers.remove(name.toLowerCase());
  if (querystring.length === 0 || exchange.rawQuery === '') return;
  const kept = exchange.rawQuery.split('&').filter((part) => {
    const [[name] = ['']] = parseQueryArgs(part, 1);
    return !querystring.includes(name);
  });
  exchange.upstream.query = kept.join('&');
}
