import { UNITS_HEADER } from '../catalogue/units';

/**
 * Headers of a response that state limits and charges. Where the gateway states the limits (`rate_limit_headers: gateway`), an API's own do not
 * go on. Elsewhere the service states them, and nobody does in an error that the gateway makes itself: the gateway learns that no service
 * answers when the access layer has been asked, and what it keeps for that case would cost each request that is answered.
 */
export const OF_LIMITS = ['RateLimit', 'RateLimit-Policy', 'X-Tollgate-Charged', 'X-Tollgate-Mode', 'X-Tollgate-Refund'] as const;

/** Headers that say which pages may read a response. What an admission says of them replaces what the API says. */
export const OF_PAGES = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'] as const;

/** Headers that never go from an API to a caller. The gateway sets the first itself. */
export const NEVER_OF_APIS = ['X-Kong-Request-Id', 'X-Tollgate-Context', UNITS_HEADER] as const;

const lower = (names: readonly string[]): readonly string[] => names.map((name) => name.toLowerCase());

const [LIMITS, PAGES, NEVER] = [lower(OF_LIMITS), lower(OF_PAGES), lower(NEVER_OF_APIS)];

/**
 * Whether a header of an API's response is the gateway's to say. The files of every gateway do the same: test/gateways/edges.system.test.ts.
 * @param name lower-cased
 * @param isSaid whether the admission says a header, by its lower-cased name
 */
export function isGatewaysToSay(name: string, isSaid: (name: string) => boolean): boolean {
  return NEVER.includes(name) || (LIMITS.includes(name) && isSaid('ratelimit')) || (PAGES.includes(name) && isSaid(name));
}

const HIDDEN = [UNITS_HEADER, 'X-Tollgate-Context', ...OF_LIMITS, ...OF_PAGES];

/** For kong.conf. nginx hides all of them, and adds those again that are the API's to say: the maps are in log-maps.conf. */
export const HIDDEN_PROPERTY = HIDDEN.join('; proxy_hide_header ');

/** The variable of the map that holds an API's header where that may go on. */
export const apiVariableOf = (name: string): string =>
  `$tollgate_api_${name
    .toLowerCase()
    .replace(/^x-tollgate-/, '')
    .replaceAll('-', '_')}`;

/** For kong.conf. In lower case, as our services write the names: nginx cannot keep the spelling of an API. */
export const ADDED_PROPERTY = [...OF_LIMITS, ...OF_PAGES]
  .map((name) => `${name.toLowerCase()} ${apiVariableOf(name)} always`)
  .join('; add_header ');
