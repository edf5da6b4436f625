import { always, type HeaderDescription, integer, text } from '../kit/service/route-description';

/** Headers that any response may have, described once in the document's components. */
export const COMMON_HEADERS = {
  'X-Kong-Request-Id': text('The ID of the request: the dashboard and `tollgate explain` explain a refusal by it.'),
  'RateLimit-Policy': text('The limits that apply: `q` requests in each window of `w` seconds.'),
  RateLimit: text('The rest of each limit: `r` requests, for another `t` seconds.'),
  'X-Tollgate-Charged': integer('How many units the request cost; 0 if they were given back.'),
  'X-Tollgate-Refund': text('`capped`: this failure would have been given back, but the cap for today is reached, so it stays charged.'),
  'X-Tollgate-Mode': text('`test` when the key is a test key.'),
} as const;

const BY_STATUS: Readonly<Record<number, Readonly<Record<string, HeaderDescription>>>> = {
  401: { 'WWW-Authenticate': text('How to send a key; set by the access check.') },
  405: { Allow: always(text('The methods that the route accepts.')) },
  429: { 'Retry-After': always(integer('Seconds until the request may be sent again.')) },
  503: { 'Retry-After': integer('Seconds until the request may be sent again; set by the access check.') },
};

/** The headers of a response of this status, whoever sends it, besides the common ones. */
export function headersOf(status: number): Readonly<Record<string, HeaderDescription>> {
  return { ...BY_STATUS[status] };
}
