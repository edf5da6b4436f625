import { checkAllGuarded } from './check-all-guarded';
import { type CheckedProduct, checkGuards, type GuardedRoute, guardedRoutes, guardRoutes, type Known } from './check-guard';
import { type PathPattern } from './path-pattern';
import { type Guard, readGateway, type CheckedRoute } from './read-gateway';
import { conditionsMeet, coversConditions, orderOf } from './route-order';

export interface CheckOptions {
  /** Products that are no longer in the catalogue, but may still be served by a route. */
  readonly retired?: readonly string[];
  /**
   * Whether kong.yml is Tollgate's alone. Then a service without the access layer is a mistake, and routes must look like the example's.
   */
  readonly allGuarded?: boolean;
}

/** Lines for people; each names its service or route. */
export interface KongReport {
  /** Mistakes that let a request pass unchecked, or to the wrong place. */
  readonly problems: readonly string[];
  /** Settings that may be intended. */
  readonly notes: readonly string[];
  /** Routes of other owners, which are not checked. */
  readonly others: readonly string[];
}

/**
 * Compares kong.yml with the product catalogue. Without problems, a route behind the access layer takes every published route, under its
 * own product, and no request for such a route can take another way. Other services and routes are checked only for being such a way.
 */
export function checkKongYml(kongYml: string, catalogue: readonly CheckedProduct[], options: CheckOptions = {}): KongReport {
  const gateway = readGateway(kongYml);
  if (Array.isArray(gateway)) return { problems: gateway, notes: [], others: [] };
  const { retired = [], allGuarded = false } = options;
  const known: Known = {
    sold: new Map(catalogue.map((product) => [product.id, product])),
    ids: new Set([...catalogue.map(({ id }) => id), ...retired]),
  };
  const guarding = guardRoutes(gateway);
  const guarded = guardedRoutes(guarding);
  const unguarded = gateway.routes.filter((route) => guarding.get(route)?.length === 0 && route.service?.isEnabled !== false);
  const findings = [
    ...(allGuarded ? checkAllGuarded(gateway, guarding, catalogue).map(problem) : unguarded.flatMap((route) => judgeOther(route, guarded))),
    ...catalogue.flatMap((product) => checkProduct(product, guarded, { allGuarded })),
  ];
  const texts = (kind: Finding['kind']): string[] => [...new Set(findings.flatMap((each) => (each.kind === kind ? [each.text] : [])))];
  return {
    problems: [...checkGuards(gateway, guarding, known), ...texts('problem')],
    notes: [...noteUnenforced(gateway.guards), ...noteGrpc(guarded), ...texts('note')],
    others: unguarded.map(({ label }) => `${label}: has no access layer; it is somebody else's`),
  };
}

/** Often intended for a while, and then forgotten. */
function noteUnenforced(guards: readonly Guard[]): string[] {
  return guards
    .filter(({ config }) => config.enforce === false)
    .map(({ label, name, config }) => {
      const text = `${label}: its ${name} does not enforce (enforce: false): every request is passed on, without a proof`;
      const takesBearer = config.key_in?.includes('authorization') ?? true;
      return takesBearer
        ? `${text}; a Bearer token of the API itself counts as a key and is removed, unless key_in leaves out authorization`
        : text;
    });
}

/** The stand-in of `npm start` and the other gateways do not support gRPC, and Kong reads `tls_verify` only for https. */
function noteGrpc(guarded: readonly GuardedRoute[]): string[] {
  const services = new Map(
    guarded.flatMap(({ route: { service } }) => (service?.protocol.startsWith('grpc') ? [[service.label, service]] : [])),
  );
  return [...services].map(([label, { protocol }]) => {
    const text = `${label}: speaks gRPC, which only Kong passes on: npm start and other gateways do not serve it`;
    return protocol === 'grpcs' ? `${text}; its certificate is checked where kong.conf has nginx_proxy_grpc_ssl_verify = on` : text;
  });
}

interface Finding {
  readonly kind: 'problem' | 'note';
  readonly text: string;
}

const problem = (text: string): Finding => ({ kind: 'problem', text });

/** Checks a route without the access layer: its destination, and the requests that it takes from guarded routes. */
function judgeOther(other: CheckedRoute, guarded: readonly GuardedRoute[]): Finding[] {
  const addresses = other.service?.addresses ?? [];
  const door = guarded.find(({ route }) => route.service?.addresses.some((address) => addresses.includes(address)));
  if (door) return [problem(`${other.label}: an open door: it leads to the same address as ${door.route.label}, without the access layer`)];
  const taken = guarded.flatMap((each) => findTaken(other, each));
  const worst = taken.find(({ kind }) => kind === 'problem') ?? taken[0];
  return worst ? [worst] : [];
}

/** The requests that a route takes from another one. */
function findTaken(other: CheckedRoute, { route, guard }: GuardedRoute): Finding[] {
  for (const a of other.paths) {
    for (const b of route.paths) {
      const path = a.findCommon(b);
      if (path === undefined || !conditionsMeet(other, route) || orderOf(other, route, { a, b }) === 'after') continue;
      const products = guard.config.products?.join(', ') ?? '';
      const text = `${other.label}: may take ${requestOf(other, path)}, which is meant for ${route.label} (${products}), without the access layer`;
      return [hasOwnHosts(other, route) ? { kind: 'note', text: `${text}; it has hosts of its own` } : problem(text)];
    }
  }
  return [];
}

/** A website bound to a host is usual beside a product for every host. */
function hasOwnHosts(other: CheckedRoute, route: CheckedRoute): boolean {
  return other.hosts !== undefined && route.hosts === undefined && route.entity.expression === undefined;
}

function requestOf({ methods, hosts, entity }: CheckedRoute, path: string): string {
  const headers = Object.keys(entity.headers ?? {});
  return `${methods?.[0] ?? 'GET'} ${hosts?.[0] ?? ''}${path}${headers.length > 0 ? ` with ${headers.join(', ')}` : ''}`;
}

function checkProduct(product: CheckedProduct, guarded: readonly GuardedRoute[], { allGuarded }: { allGuarded: boolean }): Finding[] {
  if (product.prefix === null) return [];
  const published = [product.prefix, ...product.routes.map(({ path }) => path), ...Object.keys(product.aliases ?? {})];
  // Tollgate's own services respond to paths that no route publishes, so every path below the prefix must reach them.
  const paths = new Set(allGuarded ? [...published, `${product.prefix}/unknown`] : published);
  return [...paths].flatMap((path) => checkPath(path, product, guarded));
}

const placeOf = ({ route }: GuardedRoute): string => (route.service?.entity.name ?? route.entity.name) || '(unnamed)';
const productsOf = ({ guard }: GuardedRoute): string => guard.config.products?.join(', ') ?? '';

/** Whether Kong certainly tries one route before the other for a path that both take. */
function isBefore(path: string, a: GuardedRoute, b: GuardedRoute): boolean {
  const taking = ({ route }: GuardedRoute): PathPattern[] => route.paths.filter((pattern) => pattern.takes(path));
  return taking(a).every((one) => taking(b).every((other) => orderOf(a.route, b.route, { a: one, b: other }) === 'before'));
}

/** Whether a published path reaches its product, whichever matching route Kong tries first. */
function checkPath(path: string, product: CheckedProduct, guarded: readonly GuardedRoute[]): Finding[] {
  const all = guarded.filter(({ route }) => route.paths.some((pattern) => pattern.takes(path)));
  const taking = all.filter(
    (one) => !all.some((other) => other !== one && coversConditions(other.route, one.route) && isBefore(path, other, one)),
  );
  const wanted = [product.id, ...(product.alsoAdmits ?? [])].join(', ');
  const own = taking.filter((each) => productsOf(each) === wanted);
  const admitted = taking.map(productsOf).find((products) => products !== wanted);
  const name = `product ${product.id}`;
  if (own.length === 0) {
    const why = admitted === undefined ? `no route takes ${path}` : `${path} admits ${admitted || 'nothing'} instead of ${wanted}`;
    return [problem(`${name}: ${why}`)];
  }
  return own.flatMap((one) =>
    taking.flatMap((other) => {
      const isMet = placeOf(other) !== placeOf(one) && conditionsMeet(one.route, other.route);
      const isSettled = isBefore(path, one, other) || (own.includes(other) && isBefore(path, other, one));
      if (!isMet || isSettled) return [];
      const text = `${name}: ${path} is taken by ${taking.filter((each) => each === one || each === other).map(placeOf).join(' and ')}`; // prettier-ignore
      return [hasOwnHosts(other.route, one.route) ? { kind: 'note', text } : problem(text)];
    }),
  );
}
