/** What one kind of gateway reports, and how its shipped configuration handles a response. */
export interface GatewayProfile {
  /** Headers in which it reports the original request. The gateway must set both itself, because a client's own would be trusted. */
  readonly uriHeader: 'x-forwarded-uri' | 'x-original-uri' | 'x-original-url';
  /** True if its configuration sets X-Request-Id; otherwise the client may have set it. */
  readonly namesRequests: boolean;
  /** True if it resolves `//`, `/./` and `/../` before it chooses a route, and forwards the path that it is given. */
  readonly resolvesPaths: boolean;
  /** True if it replaces the old query's text wherever that occurs, in the path too. */
  readonly replacesText: boolean;
  /** True if it removes the key from the query, and names with underscores from the request. Otherwise a request with these is refused. */
  readonly stripsEverything: boolean;
  /** True if it turns a 403 with X-Tollgate-Status: 200 into a 200, because any 2xx from Tollgate would let the request pass. */
  readonly answersPreflights: boolean;
  /** True if it can pass on only the headers of a refusal, and knows no status but 401 and 403. */
  readonly refusesInHeaders: boolean;
}

/** The profile of an unknown gateway, which is trusted as little as possible. */
export const GENERIC: GatewayProfile = {
  uriHeader: 'x-forwarded-uri',
  namesRequests: false,
  resolvesPaths: false,
  replacesText: false,
  stripsEverything: false,
  answersPreflights: false,
  refusesInHeaders: false,
};

const PROFILES: Readonly<Record<string, GatewayProfile>> = {
  generic: GENERIC,
  caddy: { ...GENERIC, resolvesPaths: true, replacesText: true, stripsEverything: true, answersPreflights: true },
  haproxy: { ...GENERIC, namesRequests: true, stripsEverything: true, answersPreflights: true },
  nginx: { ...GENERIC, namesRequests: true, resolvesPaths: true, stripsEverything: true, answersPreflights: true, refusesInHeaders: true },
  original: { ...GENERIC, uriHeader: 'x-original-uri' },
  'ingress-nginx': { ...GENERIC, uriHeader: 'x-original-url', resolvesPaths: true },
};

/** The profile that a route's path begins with; undefined for an unknown name. */
export function findProfile(name: string): GatewayProfile | undefined {
  return Object.hasOwn(PROFILES, name) ? PROFILES[name] : undefined;
}
