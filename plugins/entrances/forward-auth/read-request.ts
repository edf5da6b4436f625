import { type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { looksLikeKey, MAY_HOLD_COPIES, withoutKey } from '../../core/access/credential-location';
import { type OwnNames } from '../../core/key-places';
import { FORGEABLE, type RequestFacts, splitTarget } from '../../core/access/request-variable';
import { hasNeedlessEncoding, resolvePath } from '../../core/access/request-path';
import { collectHeaders, requestIdOf, type UnreadableQuestion } from '../../access-layer/gateway-question';
import { type GatewayProfile } from './gateway-profiles';

/** The header in which a gateway on TCP sends the shared secret. */
export const SECRET_HEADER = 'x-tollgate-gateway';

/** A request as the gateway describes it. */
export interface ForwardedRequest extends RequestFacts {
  /** The path for the service, without a query. */
  readonly path: string;
}

/** Headers that concern only gateway and access layer. */
const HOP_HEADERS = new Set([
  SECRET_HEADER,
  'host',
  'connection',
  'x-forwarded-uri',
  'x-forwarded-method',
  'x-forwarded-for',
  'x-request-id',
]);

const known = new Set([SECRET_HEADER, ...FORGEABLE.map((name) => `x-tollgate-${name}`)]);

/** A header that no shipped configuration removes by name, and that a service could take for one of Tollgate's or for the key. */
function isLeftOver(name: string, { profile: { stripsEverything }, names }: Asking): boolean {
  const hyphened = name.replaceAll('_', '-');
  if (hyphened !== name && names.headers.includes(hyphened)) return true;
  if (hyphened !== name && !stripsEverything && (hyphened === 'x-api-key' || known.has(hyphened))) return true;
  return hyphened.startsWith('x-tollgate-') && !known.has(hyphened);
}

function* pairsOf(rawHeaders: readonly string[]): Iterable<readonly [string, string]> {
  for (let index = 0; index < rawHeaders.length; index += 2) yield [rawHeaders[index] ?? '', rawHeaders[index + 1] ?? ''];
}

/** The last address, which the gateway added. The client may have written the earlier ones. */
function callerIn(forwardedFor: string | string[] | undefined): string | undefined {
  const last = [forwardedFor ?? []].flat().at(-1)?.split(',').at(-1)?.trim();
  return last !== undefined && isIP(last) !== 0 ? last : undefined;
}

/** The gateway that asks, and the names of the key on its route. */
interface Asking {
  readonly profile: GatewayProfile;
  readonly names: OwnNames;
}

/** Parses a gateway's description of a request. Call it only after the gateway has authenticated. */
export function readRequest({ rawHeaders }: IncomingMessage, asking: Asking): ForwardedRequest | UnreadableQuestion {
  const { profile, names } = asking;
  const all = collectHeaders(pairsOf(rawHeaders));
  const requestId = requestIdOf(profile.namesRequests ? all['x-request-id'] : undefined);
  const unreadable = (fault: UnreadableQuestion['fault'], why: string): UnreadableQuestion => ({ fault, why, requestId });
  const target = all[profile.uriHeader];
  if (typeof target !== 'string') return unreadable('gateway', `the gateway must send ${profile.uriHeader} once`);
  const callerAddress = callerIn(all['x-forwarded-for']);
  if (callerAddress === undefined) return unreadable('gateway', 'the gateway must send the caller’s address in X-Forwarded-For');
  // Some gateways report an absolute URL.
  const { rawPath: sentPath, rawQuery } = splitTarget(target.replace(/^https?:\/\/[^/?#]*/i, ''));
  const rawPath = sentPath === '' ? '/' : sentPath;
  const path = resolvePath(rawPath);
  if (path === undefined)
    return unreadable('path', 'The path has an encoded slash, backslash or NUL, a dot segment with a parameter, or leads above the root.');
  if (path !== rawPath && !profile.resolvesPaths) return unreadable('path', 'The path has empty or dot segments.');
  if (hasNeedlessEncoding(rawPath) && !profile.resolvesPaths) {
    return unreadable('path', 'The path encodes a letter or digit, which needs no encoding.');
  }
  const hasKey = withoutKey(rawQuery, names) !== rawQuery;
  if (profile.replacesText && (/%2e/i.test(rawPath) || (hasKey && path.includes(rawQuery)))) {
    return unreadable('path', 'The path has an encoded dot, or repeats the query with the key.');
  }
  if (!profile.stripsEverything && (hasKey || [rawQuery, ...MAY_HOLD_COPIES.map((name) => String(all[name]))].some(looksLikeKey))) {
    return unreadable(
      'client',
      'This gateway cannot take the API key off the query, a cookie or Referer. Send it in a header, and there only.',
    );
  }
  if (rawQuery.includes('#')) return unreadable('client', 'The query has a fragment.');
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(all)) {
    if (HOP_HEADERS.has(name) || name === profile.uriHeader) continue;
    if (isLeftOver(name, asking))
      return unreadable('client', `The request has a header that could not be taken off it: ${name.slice(0, 40)}.`);
    headers[name] = value;
  }
  const reported = all['x-forwarded-method'];
  const shown = { method: typeof reported === 'string' ? reported : '', rawPath };
  const method = profile.answersPreflights ? shown.method : '';
  return { requestId, headers, rawQuery, rawPath: '', method, callerAddress, path, shown };
}
