/** Places for the key unless a route names others, in search order. */
export const KEY_PLACES = ['authorization', 'x-api-key', 'query', 'form'] as const;

type UsualPlace = (typeof KEY_PLACES)[number];

/** A header or a parameter with a name chosen by the route, such as `header:apikey`. A header's name is in lower case. */
type OwnPlace = `header:${string}` | `query:${string}`;
export type KeyPlace = UsualPlace | OwnPlace;

/** Names that a route may choose for its key: every gateway can pass them on and remove them, in any spelling. */
const HEADER = /^header:([a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?)$/i;
const PARAMETER = /^query:([a-z0-9_-]{1,64})$/i;

/** The same for Kong, as Lua patterns. */
export const KEY_PLACE_PATTERNS = [...KEY_PLACES.map((place) => `^${place.replaceAll('-', '%-')}$`), '^header:[%w-]+$', '^query:[%w_-]+$'];
export const KEY_PLACE_FORM = `must be one of ${KEY_PLACES.join(', ')}, or header:NAME or query:NAME`;

/** Headers with a meaning for HTTP, browsers or gateways. Removing such a header, or putting a key into it, would change the request. */
const RESERVED = new Set([
  ...['host', 'connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'via', 'forwarded', 'date', 'range'],
  ...['origin', 'referer', 'cookie', 'cookie2', 'set-cookie', 'user-agent', 'accept', 'http2-settings', 'traceparent', 'tracestate'],
  ...['www-authenticate', 'from', 'pragma', 'cache-control', 'max-forwards', 'dnt', 'x-real-ip', 'x-request-id', 'x-units', 'x-http-method-override'],
]); // prettier-ignore
const RESERVED_BEGINNING =
  /^(?:accept|access-control|content|if|proxy|sec|x-consumer|x-credential|x-envoy|x-forwarded|x-kong|x-original|x-tollgate)-/;

const isUsual = (text: string): text is UsualPlace => (KEY_PLACES as readonly string[]).includes(text);

/** Reads a member of `key_in`. @returns the place, or why it is not one */
export function readKeyPlace(text: string): KeyPlace | { readonly problem: string } {
  if (isUsual(text)) return text;
  const header = HEADER.exec(text)?.[1]?.toLowerCase();
  if (header !== undefined) {
    if (isUsual(header)) return { problem: `${text} is written ${header}` };
    if (RESERVED.has(header) || RESERVED_BEGINNING.test(`${header}-`)) return { problem: `the header ${header} has another meaning` };
    return `header:${header}`;
  }
  const parameter = PARAMETER.exec(text)?.[1];
  if (parameter === 'api_key') return { problem: `${text} is written query` };
  if (parameter !== undefined) return `query:${parameter}`;
  return { problem: KEY_PLACE_FORM };
}

/** The problems of a list of places, one readable line each. */
export function keyPlaceProblems(texts: readonly string[]): string[] {
  const places = texts.map(readKeyPlace);
  const problems = places.flatMap((place) => (typeof place === 'string' ? [] : [place.problem]));
  return new Set(places).size === places.length ? problems : [...problems, 'names a place twice'];
}

/** The places of a list without problems, in search order: headers, the query, a form. */
export function readKeyPlaces(texts: readonly string[]): ReadonlySet<KeyPlace> {
  const places = texts.map(readKeyPlace).filter((place) => typeof place === 'string');
  const rank = (place: KeyPlace): number => ORDER.indexOf(isUsual(place) ? place : place.startsWith('header:') ? 'header' : 'parameter');
  return new Set(places.toSorted((left, right) => rank(left) - rank(right)));
}

const ORDER: readonly string[] = ['authorization', 'x-api-key', 'header', 'query', 'parameter', 'form'];

/** A route's names for its key, besides ours. */
export interface OwnNames {
  /** Header names in lower case. */
  readonly headers: readonly string[];
  readonly parameters: readonly string[];
}

export function ownNamesOf(places: Iterable<string>): OwnNames {
  const all = [...places];
  const named = (kind: string): string[] => all.filter((place) => place.startsWith(kind)).map((place) => place.slice(kind.length));
  return { headers: named('header:'), parameters: named('query:') };
}

/** The same for a route in the gateways' spelling: `api-a;key_in=x-api-key,header:apikey`. */
export function ownNamesIn(route: string): OwnNames {
  return ownNamesOf(readKeyPlaces((/;key_in=([^;]*)/.exec(route)?.[1] ?? '').split(',')));
}
