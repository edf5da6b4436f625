import { UNITS_HEADER } from '../catalogue/units';

/**
 * Response headers that state limits and charges. If the gateway states the limits (`rate_limit_headers: gateway`), an API's own are
 * removed. Otherwise the service states them, and an error of the gateway's own has none: only after the access check does the gateway
 * learn that no service responds, and storing them for that case would add a cost to every request.
 */
export const OF_LIMITS = ['RateLimit', 'RateLimit-Policy', 'X-Tollgate-Charged', 'X-Tollgate-Mode', 'X-Tollgate-Refund'] as const;

/** Headers that say which pages may read a response. Those of an admission replace the API's. */
export const OF_PAGES = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'] as const;

/** Headers of an API that never reach a caller. The gateway sets the first itself. */
export const NEVER_OF_APIS = ['X-Kong-Request-Id', 'X-Tollgate-Context', UNITS_HEADER] as const;

const lower = (names: readonly string[]): readonly string[] => names.map((name) => name.toLowerCase());

const [LIMITS, PAGES, NEVER] = [lower(OF_LIMITS), lower(OF_PAGES), lower(NEVER_OF_APIS)];

/**
 * Whether only the gateway may set a header of an API's response. The files of every gateway do the same:
 * test/gateways/edges.system.test.ts.
 * @param name lower-cased
 * @param isSaid whether the admission sets a header, by its lower-cased name
 */
export function isGatewaysToSay(name: string, isSaid: (name: string) => boolean): boolean {
  return NEVER.includes(name) || (LIMITS.includes(name) && isSaid('ratelimit')) || (PAGES.includes(name) && isSaid(name));
}

const HIDDEN = [UNITS_HEADER, 'X-Tollgate-Context', ...OF_LIMITS, ...OF_PAGES];

/** For kong.conf. nginx hides all of these headers, and the maps in log-maps.conf add back those that the API may set. */
export const HIDDEN_PROPERTY = HIDDEN.join('; proxy_hide_header ');

/** The map variable with an API's header, if the header may be passed on. */
export const apiVariableOf = (name: string): string =>
  `$tollgate_api_${name
    .toLowerCase()
    .replace(/^x-tollgate-/, '')
    .replaceAll('-', '_')}`;

/** For kong.conf. The names are in lower case, like those of our services, because nginx cannot keep an API's spelling. */
export const ADDED_PROPERTY = [...OF_LIMITS, ...OF_PAGES]
  .map((name) => `${name.toLowerCase()} ${apiVariableOf(name)} always`)
  .join('; add_header ');
