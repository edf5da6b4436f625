import { keyPlaceProblems } from '../../plugins/core/key-places';
import { type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { type Gateway, type Guard, GUARDS, type CheckedRoute, type CheckedService } from './read-gateway';

/** The facts about a product that the check needs. The catalogue has more. */
export type CheckedProduct = Pick<CatalogueProduct, 'id' | 'prefix' | 'keyIn' | 'largeBodies' | 'alsoAdmits' | 'aliases'> & {
  /** Full paths below the base URL. */
  readonly routes: readonly { readonly path: string }[];
};

/** The products that kong.yml may name. */
export interface Known {
  readonly sold: ReadonlyMap<string, CheckedProduct>;
  /** Includes products that are no longer sold. */
  readonly ids: ReadonlySet<string>;
}

/** A route behind the access layer, with the plugin that Kong runs for it. */
export interface GuardedRoute {
  readonly route: CheckedRoute;
  readonly guard: Guard;
}

/** Fields that do not affect when Kong runs a plugin; any other field may narrow it. */
const PLUGIN_FIELDS = [
  'id',
  'name',
  'instance_name',
  'tags',
  'created_at',
  'updated_at',
  'service',
  'route',
  'config',
  'enabled',
  'protocols',
];
/** Fields that decide which requests a route takes and what happens to them. */
const ROUTE_FIELDS = [
  'id', 'name', 'tags', 'created_at', 'updated_at', 'service', 'plugins', 'protocols', 'hosts', 'methods', 'paths', 'headers', 'snis',
  'expression', 'priority', 'regex_priority', 'strip_path', 'preserve_host', 'path_handling', 'request_buffering', 'response_buffering',
  'https_redirect_status_code',
]; // prettier-ignore
const SERVICE_FIELDS = [
  'id', 'name', 'tags', 'created_at', 'updated_at', 'routes', 'plugins', 'url', 'protocol', 'host', 'port', 'path', 'enabled', 'retries',
  'connect_timeout', 'read_timeout', 'write_timeout', 'tls_verify', 'tls_verify_depth', 'tls_sans', 'ca_certificates', 'client_certificate',
]; // prettier-ignore

/** Fields known to narrow a plugin, with the reason in words. */
const NARROWED: Readonly<Record<string, string>> = {
  consumer: 'Kong runs it only for that consumer, and lets everybody else through',
  consumer_group: 'Kong runs it only for that group of consumers, and lets everybody else through',
  ordering: 'the check does not judge an order of plugins other than Kong’s own',
};

/** How specifically a plugin is bound. Of the plugins with one name, Kong takes the most specific. */
function closeness({ service, route }: Guard): number {
  return (route ? 2 : 0) + (service ? 1 : 0);
}

/** Our plugins that Kong runs for each route. The access layer has two kinds; having both is a mistake. */
export type Guarding = ReadonlyMap<CheckedRoute, readonly Guard[]>;

/** The plugins that Kong chooses for each route. */
export function guardRoutes({ routes, guards }: Gateway): Guarding {
  const effective = guards.filter(({ isEnabled, owner, isLost }) => isEnabled && owner === undefined && !isLost);
  const byPlace = groupBy(effective, ({ route, service }) => route ?? service);
  return new Map(
    routes.map((route) => {
      const places = [route, ...(route.service ? [route.service] : []), undefined];
      const bound = places.flatMap((place) => byPlace.get(place) ?? []).filter(({ service }) => (service ?? route.service) === route.service); // prettier-ignore
      return [route, GUARDS.flatMap((name) => closest(bound.filter((guard) => guard.name === name)))];
    }),
  );
}

function groupBy<Each, Key>(all: readonly Each[], keyOf: (each: Each) => Key): Map<Key, Each[]> {
  const groups = new Map<Key, Each[]>();
  for (const each of all) {
    const group = groups.get(keyOf(each));
    if (group) group.push(each);
    else groups.set(keyOf(each), [each]);
  }
  return groups;
}

function closest(guards: readonly Guard[]): Guard[] {
  const most = Math.max(...guards.map(closeness));
  return guards.filter((guard) => closeness(guard) === most);
}

/** The routes behind the access layer. */
export function guardedRoutes(guarding: Guarding): GuardedRoute[] {
  return [...guarding].flatMap(([route, [guard]]) => (guard ? [{ route, guard }] : []));
}

/** All mistakes in our plugins, and in the services and routes on which Kong runs them. */
export function checkGuards(gateway: Gateway, guarding: Guarding, known: Known): string[] {
  const guarded = guardedRoutes(guarding);
  const byGuard = groupBy(guarded, ({ guard }) => guard);
  const routesOf = (guard: Guard): CheckedRoute[] => (byGuard.get(guard) ?? []).map(({ route }) => route);
  const services = new Set(guarded.flatMap(({ route }) => route.service ?? []));
  return [
    ...gateway.guards.flatMap((guard) => [...checkWhen(guard, routesOf(guard)), ...checkSettings(guard, known)]),
    ...guarded.flatMap(({ route }) => checkRoute(route, guarding.get(route) ?? [])),
    ...[...services].flatMap(checkService),
    ...checkUploads(guarded, known),
    ...(gateway.hasDefaults && gateway.guards.length > 0
      ? ['kong.yml: _info.defaults: the check does not read defaults; write them into each service and route']
      : []),
  ];
}

const isGiven = ([, value]: [string, unknown]): boolean => value !== undefined && value !== null;

function unknownFields(entity: Readonly<Record<string, unknown>>, known: readonly string[]): string[] {
  return Object.entries(entity).filter(isGiven).map(([name]) => name).filter((name) => !known.includes(name)); // prettier-ignore
}

/** Whatever keeps Kong from running the plugin for every request of its routes. */
function checkWhen(guard: Guard, routes: readonly CheckedRoute[]): string[] {
  const { name, label, fields, isEnabled, owner, isLost, protocols } = guard;
  const problems = unknownFields(fields, PLUGIN_FIELDS).map((field) => {
    const why = NARROWED[field] ?? 'the check does not know it, and it may keep Kong from running the plugin';
    return `${label}: its ${name} has ${field}: ${why}`;
  });
  if (owner !== undefined) problems.push(`kong.yml: has the plugin ${name} below a ${owner}: ${NARROWED[owner]}`);
  if (isLost) problems.push(`${label}: its ${name} names a service or route that is not in the file, or not its own`);
  if (!isEnabled) problems.push(`${label}: its ${name} is switched off (enabled: false)`);
  const missed = [...new Set(routes.flatMap((route) => route.protocols))].filter((protocol) => !protocols.includes(protocol));
  if (missed.length > 0) problems.push(`${label}: its ${name} does not run for ${missed.join(', ')} (protocols), which its routes take`);
  return problems;
}

function checkSettings({ label, name, config }: Guard, { sold, ids }: Known): string[] {
  const products = config.products ?? [];
  const problems = products.filter((id) => !ids.has(id)).map((id) => `${label}: product ${id} is not in the catalogue`);
  if (products.length === 0) problems.push(`${label}: its ${name} admits no product`);
  problems.push(...keyPlaceProblems(config.key_in ?? []).map((problem) => `${label}: key_in: ${problem}`));
  if (config.quota === false) problems.push(`${label}: quota is off: requests would not be counted`);
  for (const id of products) {
    const product = sold.get(id);
    const wanted = product?.keyIn;
    if (wanted !== undefined && config.key_in?.toSorted().join() !== wanted.toSorted().join())
      problems.push(`${label}: ${id} takes its key from ${wanted.join(', ')} only`);
    if (product?.prefix === null) problems.push(`${label}: product ${id} publishes no route`);
  }
  return problems;
}

function checkRoute(route: CheckedRoute, guards: readonly Guard[]): string[] {
  const problems = unknownFields(route.entity, ROUTE_FIELDS).map((field) => `${route.label}: has ${field}, which the check does not know`);
  const { label } = route.service ?? route;
  const [name, other] = new Set(guards.map((guard) => guard.name));
  if (other !== undefined) problems.push(`${label}: has both ${name} and ${other}: each request would be charged twice`);
  else if (guards.length > 1) problems.push(`${label}: has the ${name} plugin more than once`);
  return problems;
}

function checkService({ label, entity, isEnabled, isHttps }: CheckedService): string[] {
  const problems = unknownFields(entity, SERVICE_FIELDS).map((field) => `${label}: has ${field}, which the check does not know`);
  if (!isEnabled) problems.push(`${label}: is switched off (enabled: false): Kong does not serve its routes`);
  if (isHttps && entity.tls_verify !== true) problems.push(`${label}: tls_verify must be true: Kong accepts any certificate without it`);
  return problems;
}

/** Kong would wait for the whole body between its plugins and the service, and the access layer's proof would have expired by then. */
function checkUploads(guarded: readonly GuardedRoute[], { sold }: Known): string[] {
  const held = guarded.filter(
    ({ route, guard }) => guard.config.products?.some((id) => sold.get(id)?.largeBodies) && route.entity.request_buffering !== false,
  );
  const places = new Set(held.map(({ route }) => (route.service ?? route).label));
  return [...places].map((label) => `${label}: request_buffering must be false: the proof of a slow upload would expire on the way`);
}
