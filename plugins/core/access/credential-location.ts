import { type KeyPlace, type OwnNames } from '../key-places';
import { readings, readParameter, removeParameter } from './raw-parameters';

/** The query and form parameter that may carry the key. */
export const KEY_PARAMETER = 'api_key';

/** Lower-cased names; a repeated header has an array. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export type KeySearch = { status: 'found'; key: string; place: KeyPlace } | { status: 'missing' } | { status: 'ambiguous' };

/** The token of `Authorization: Bearer <token>`, the scheme in any case; undefined for another scheme or an empty token. */
export function bearerToken(authorization: string): string | undefined {
  const scheme = /^bearer +/i.exec(authorization)?.[0];
  // Two steps, because one pattern for all of it would try every division of a long run of spaces.
  return (scheme && authorization.slice(scheme.length).trim()) || undefined;
}

/**
 * Looks for the key in headers and query, in the order of the allowed places. The first place with a key wins. A different key in another
 * allowed place, or a repetition in one place, is ambiguous: a guess at the caller's intention could charge the wrong customer.
 */
export function locateKey(headers: RequestHeaders, rawQuery: string, allowed: ReadonlySet<KeyPlace>): KeySearch {
  const found: { key: string; place: KeyPlace }[] = [];
  for (const place of allowed) {
    if (place === 'form') continue;
    const values = valuesAt(place, headers, rawQuery);
    if (values.length > 1) return { status: 'ambiguous' };
    const [key] = values;
    if (key !== undefined && key !== '') found.push({ key, place });
  }
  const [first, ...others] = found;
  if (!first) return { status: 'missing' };
  return others.every((other) => other.key === first.key) ? { status: 'found', ...first } : { status: 'ambiguous' };
}

function valuesAt(place: Exclude<KeyPlace, 'form'>, headers: RequestHeaders, rawQuery: string): readonly string[] {
  if (place === 'query') return readParameter(rawQuery, KEY_PARAMETER);
  if (place.startsWith('query:')) return readParameter(rawQuery, place.slice('query:'.length));
  const value = headers[place.startsWith('header:') ? place.slice('header:'.length) : place];
  if (value === undefined) return [];
  if (typeof value !== 'string') return value;
  if (place !== 'authorization') return [value];
  const token = bearerToken(value);
  return token === undefined ? [] : [token];
}

/** Judges the values of the form field, which is read only when no other place holds a key. */
export function judgeFormKey(values: readonly string[]): KeySearch {
  const [key, ...more] = values;
  if (more.length > 0) return { status: 'ambiguous' };
  return key === undefined || key === '' ? { status: 'missing' } : { status: 'found', key, place: 'form' };
}

/** Headers that only the gateway may set, in every spelling that a lenient receiver would accept. */
const GATEWAY_HEADER = /^x[-_]tollgate[-_]/;

/** Headers that `Connection` may not name: a gateway that honours it would remove them from the request after they were set. */
const SET_BY_GATEWAY = /(?:^|,)\s*x[-_](?:tollgate|kong|forwarded)[-_]/i;

/** Whether the client asks the gateway, by its `Connection` header, to remove headers that the gateway sets. */
export function removesGatewayHeaders(connection: string | readonly string[] | undefined): boolean {
  if (connection === undefined) return false;
  return typeof connection === 'string' ? SET_BY_GATEWAY.test(connection) : connection.some((each) => SET_BY_GATEWAY.test(each));
}

/** The key's header in the spellings that nginx's variables and lenient receivers treat as the same. */
const KEY_HEADERS = ['x-api-key', 'x_api_key', 'x-api_key', 'x_api-key'];

/** Headers into which clients copy the key without intending it: the address of a page may contain it. */
export const MAY_HOLD_COPIES = ['cookie', 'referer'];

/** A shorter key may be part of a word. Our keys have 41 characters; imported keys may have any number. */
const MIN_COPY = 16;

/** Most texts have no escape, and this runs for each admitted request. */
const some = (text: string, test: (reading: string) => boolean): boolean =>
  test(text) || (text.includes('%') && [...readings(text)].some(test));

const holdsCopy = (text: string, key: string): boolean => key.length >= MIN_COPY && some(text, (reading) => reading.includes(key));

/**
 * The query without copies of the key in other parameters, which keep their names. A parameter that spells the key with percent escapes
 * loses its value, and its name if the key is there. Anything else stays as it was.
 */
export function withoutCopies(rawQuery: string, key: string): string {
  if (!holdsCopy(rawQuery, key)) return rawQuery;
  const withoutCopy = (pair: string): string => {
    if (!holdsCopy(pair, key)) return pair;
    const name = pair.slice(0, pair.indexOf('=') + 1);
    return holdsCopy(name, key) ? '' : name;
  };
  return rawQuery.replaceAll(key, '').split('&').map(withoutCopy).join('&');
}

/** The query without the parameters that may hold the key. */
export function withoutKey(rawQuery: string, { parameters }: OwnNames): string {
  return parameters.reduce(removeParameter, removeParameter(rawQuery, KEY_PARAMETER));
}

/** Whether a text contains something that looks like one of our keys, with or without percent escapes. */
export const looksLikeKey = (text: string): boolean => some(text, (reading) => /\btg_(?:live|test)_[0-9A-Za-z]{16}/.test(reading));

/**
 * Names of the headers that must not reach a service: credentials, and whatever the client sent in the gateway's own name space.
 * `Authorization` is removed if it has the key or anything that looks like a Tollgate key, `Cookie` and `Referer` if they have a copy of
 * it.
 * @param key the key in use; undefined if none was found
 * @param own names of the key on this route
 */
export function headersToStrip(headers: RequestHeaders, key: string | undefined, own: readonly string[] = []): string[] {
  const names: string[] = [];
  let hasKeyHeader = false;
  for (const name in headers) {
    if (name === 'authorization') {
      if (carriesKey(headers[name], key)) names.push(name);
    } else if (MAY_HOLD_COPIES.includes(name)) {
      if (key !== undefined && holdsCopy(String(headers[name]), key)) names.push(name);
    } else if (KEY_HEADERS.includes(name)) hasKeyHeader = true;
    else if (GATEWAY_HEADER.test(name) || isOwn(name, own)) names.push(name);
  }
  return hasKeyHeader ? names.concat(KEY_HEADERS) : names;
}

/** Lenient receivers read an underscore as a hyphen. */
const isOwn = (name: string, own: readonly string[]): boolean => own.length > 0 && own.includes(name.replaceAll('_', '-'));

function carriesKey(value: string | readonly string[] | undefined, key: string | undefined): boolean {
  const values = typeof value === 'string' ? [value] : (value ?? []);
  return values.some((each) => (key !== undefined && each.includes(key)) || /\btg_(live|test|admin|seller)_/.test(each));
}
