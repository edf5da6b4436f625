/** What one kind of gateway reports, and what its shipped configuration does with a response. */
export interface GatewayProfile {
  /** Headers in which it says what was asked of it. It must set both itself: a client's own would be believed. */
  readonly uriHeader: 'x-forwarded-uri' | 'x-original-uri' | 'x-original-url';
  /** True where its configuration sets X-Request-Id; elsewhere that header is the client's word. */
  readonly namesRequests: boolean;
  /** True where it resolves `//`, `/./` and `/../` before it chooses a route, and sends on the path that it is given. */
  readonly resolvesPaths: boolean;
  /** True where it puts the new query in the old one's place wherever the old one stands, in the path too. */
  readonly replacesText: boolean;
  /** True where it takes the key off the query, and names with underscores off the request. Elsewhere a request that has them is refused. */
  readonly stripsEverything: boolean;
  /** True if it turns a 403 with X-Tollgate-Status: 200 into a 200, because any 2xx from Tollgate would let the request pass. */
  readonly answersPreflights: boolean;
  /** True where it can pass on nothing of a refusal but headers, and knows no status but 401 and 403. */
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
