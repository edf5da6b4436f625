import { parse } from 'yaml';
import { z } from 'zod';
import { type CatalogueProduct } from '../plugins/core/catalogue/catalogue';
import { AS_KONG_READS } from './as-kong-reads';

/** What the check needs of a product; the catalogue has more. */
export type CheckedProduct = Pick<CatalogueProduct, 'id' | 'prefix' | 'keyIn' | 'largeBodies' | 'alsoAdmits' | 'aliases'> & {
  /** Full paths below the base URL. */
  readonly routes: readonly { readonly path: string }[];
};

/** A list that may be left out, or stand there empty. */
function listOf<Item>(item: z.ZodType<Item>): z.ZodType<Item[] | undefined> {
  return z
    .array(item, 'is not a list')
    .nullish()
    .transform((list) => list ?? undefined);
}

const text = z.string('is not a text');

const checkedPlugin = z.object(
  {
    name: text.optional(),
    enabled: z.boolean('is not true or false').optional(),
    config: z
      .object(
        {
          products: listOf(text),
          remove: z.object({ headers: listOf(text), querystring: listOf(text) }, 'is not an object').optional(),
          key_in: listOf(text),
          quota: z.boolean('is not true or false').optional(),
          rate_limit_headers: text.optional(),
        },
        'is not an object',
      )
      .nullish(),
  },
  'is not an object',
);

const checkedRoute = z.object(
  {
    name: text.optional(),
    paths: listOf(text),
    methods: listOf(text),
    regex_priority: z.number('is not a number').optional(),
    strip_path: z.boolean('is not true or false').optional(),
    request_buffering: z.boolean('is not true or false').optional(),
    plugins: listOf(checkedPlugin),
  },
  'is not an object',
);

const checkedService = z.object(
  {
    name: text.optional(),
    url: text.optional(),
    protocol: text.optional(),
    tls_verify: z.boolean('is not true or false').nullish(),
    routes: listOf(checkedRoute),
    plugins: listOf(checkedPlugin),
  },
  'is not an object',
);

/** The part of kong.yml that the check reads. Whether the rest is well-formed is for Kong, or the local gateway's start, to say. */
const checkedFile = z.object(
  { services: listOf(checkedService), routes: listOf(checkedRoute), plugins: listOf(checkedPlugin) },
  'is not an object',
);

type CheckedFile = z.output<typeof checkedFile>;
type CheckedService = z.output<typeof checkedService>;
type CheckedRoute = z.output<typeof checkedRoute>;
type CheckedPlugin = z.output<typeof checkedPlugin>;

const PLUGIN = 'access-layer';
/** The same access layer, asked over the lane (kong/lane). A service has one of the two. */
const LANE_PLUGIN = 'tollgate';
const isGuard = ({ name }: CheckedPlugin): boolean => name === PLUGIN || name === LANE_PLUGIN;

/** All that the gateway answers without a key, and how: the catalogue, and the description of the API. */
const OPEN_PATHS: readonly string[] = ['~/$', '~/openapi\\.json$'];
const OPEN_METHODS: readonly string[] = ['GET', 'HEAD'];
/** What must not go on from there. */
const KEY_HEADERS: readonly string[] = ['authorization', 'x-api-key'];
const KEY_ARGUMENT = 'api_key';

/**
 * Compares kong.yml with the product catalogue. Returns one readable line per difference; an empty list means that every published
 * route reaches exactly one service, behind the access layer, under its own product.
 * @param retired products that are not in the catalogue any more, which a block may still serve
 */
export function checkKongConfig(kongYml: string, catalogue: readonly CheckedProduct[], retired: readonly string[] = []): string[] {
  const file = readFile(kongYml);
  if (Array.isArray(file)) return file;
  const services = file.services ?? [];
  const known: Known = {
    sold: new Map(catalogue.map((product) => [product.id, product])),
    ids: new Set([...catalogue.map(({ id }) => id), ...retired]),
  };
  return [
    ...checkTopLevel(file),
    ...services.flatMap((service) => checkService(service, known)),
    ...catalogue.flatMap((product) => checkProduct(product, services)),
  ];
}

/** @returns what is wrong with its form, one text a place, when it cannot be compared */
function readFile(kongYml: string): CheckedFile | string[] {
  let file: unknown;
  try {
    file = parse(kongYml, AS_KONG_READS);
  } catch (error) {
    return [`kong.yml: ${error instanceof Error ? error.message : 'not readable'}`];
  }
  if (file === null || file === undefined) return ['kong.yml: empty'];
  const parsed = checkedFile.safeParse(file);
  return parsed.success ? parsed.data : parsed.error.issues.map(({ path, message }) => `kong.yml: ${placeOf(path)}${message}`);
}

/** `services[0].routes `, or nothing for the file itself. */
function placeOf(path: readonly PropertyKey[]): string {
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return place === '' ? '' : `${place.slice(1)} `;
}

/** Kong takes both also outside services, where they would go round what is checked here. */
function checkTopLevel({ routes, plugins }: CheckedFile): string[] {
  return [
    ...(routes ?? []).map(({ name = '(unnamed)' }) => `route ${name}: stands outside every service; write it below its service`),
    ...(plugins ?? [])
      .filter(isGuard)
      .map(({ name = PLUGIN }) => `kong.yml: has the plugin ${name} outside every service; each service needs its own, with its product`),
  ];
}

/** Whether all that a service takes are the open addresses, as they are written in kong.yml: another spelling may take more. */
function isOpen({ routes = [] }: CheckedService): boolean {
  return (
    routes.length > 0 &&
    routes.every(
      ({ paths = [], methods = [] }) =>
        paths.length > 0 &&
        paths.every((path) => OPEN_PATHS.includes(path)) &&
        methods.length > 0 &&
        methods.every((method) => OPEN_METHODS.includes(method)),
    )
  );
}

function checkOpen(service: CheckedService, name: string): string[] {
  const removals = (service.plugins ?? [])
    .filter((plugin) => plugin.name === 'request-transformer' && plugin.enabled !== false)
    .flatMap(({ config }) => config?.remove ?? []);
  const headers = removals.flatMap((removal) => removal.headers ?? []).map((header) => header.toLowerCase());
  const isRemoved = KEY_HEADERS.every((header) => headers.includes(header));
  const isRemovedFromQuery = removals.some(({ querystring }) => querystring?.includes(KEY_ARGUMENT));
  const problems = (service.routes ?? [])
    .filter((route) => route.strip_path !== false)
    .map((route) => `${name}, route ${route.name ?? '(unnamed)'}: strip_path must be false: its addresses are told apart by it`);
  return isRemoved && isRemovedFromQuery
    ? problems
    : [
        ...problems,
        `${name}: needs a request-transformer that removes ${[...KEY_HEADERS, KEY_ARGUMENT].join(', ')}: a key sent there would go on`,
      ];
}

/** The products that kong.yml may name. */
interface Known {
  readonly sold: ReadonlyMap<string, CheckedProduct>;
  /** With those that are not sold any more. */
  readonly ids: ReadonlySet<string>;
}

function checkService(service: CheckedService, known: Known): string[] {
  const name = `service ${service.name ?? '(unnamed)'}`;
  if (isOpen(service) && guardsOf(service).length === 0) return checkOpen(service, name);
  const guards = guardsOf(service);
  const isOurs = !hasOwnUpstream(service);
  const problems = (service.routes ?? []).flatMap((route) => checkRoute(route, `${name}, route ${route.name ?? '(unnamed)'}`, isOurs));
  if ((service.protocol === 'https' || service.url?.startsWith('https:')) && service.tls_verify !== true) {
    problems.push(`${name}: tls_verify must be true: Kong takes any certificate without it`);
  }
  const [guard] = guards;
  if (guard === undefined) return [`${name}: has no ${PLUGIN} plugin: its routes are open to everyone`, ...problems];
  if (new Set(guards.map((each) => each.name)).size > 1) {
    problems.push(`${name}: has both ${PLUGIN} and ${LANE_PLUGIN}: each request would be charged twice`);
  } else if (guards.length > 1) problems.push(`${name}: has the ${guard.name} plugin more than once`);
  // Kong would wait for all of a body between its plugins and the service, to which the proof of the access layer then comes expired.
  const takesFiles = guard.config?.products?.some((id) => known.sold.get(id)?.largeBodies === true) === true;
  if (takesFiles && service.routes?.some((route) => route.request_buffering !== false)) {
    problems.push(`${name}: request_buffering must be false: the proof of a slow upload would expire on its way`);
  }
  return [...problems, ...checkGuard(guard, name, known)];
}

function guardsOf(service: CheckedService): CheckedPlugin[] {
  return (service.plugins ?? []).filter((plugin) => isGuard(plugin) && plugin.enabled !== false);
}

/** An API outside Tollgate: the gateway sets the fields that Tollgate's services set, and the paths are its own. */
function hasOwnUpstream(service: CheckedService): boolean {
  return guardsOf(service)[0]?.config?.rate_limit_headers === 'gateway';
}

function checkRoute(route: CheckedRoute, name: string, isOurs: boolean): string[] {
  const problems: string[] = [];
  if (isOurs && route.strip_path !== false) problems.push(`${name}: strip_path must be false: services answer under their full path`);
  if (route.methods !== undefined) problems.push(`${name}: names methods: Kong would answer 404 where the service answers 405`);
  for (const own of route.plugins?.filter(isGuard) ?? []) {
    problems.push(`${name}: has the plugin ${own.name} of its own, which would replace that of its service or be asked beside it`);
  }
  for (const path of route.paths ?? []) {
    // `/weather/` has its boundary, `/weather` has none.
    if (!path.startsWith('~') && !path.endsWith('/'))
      problems.push(`${name}: path ${path} is a prefix without a boundary; write ~${path}(?:/.*)?$`);
    else if (path.startsWith('~') && !path.endsWith('$')) problems.push(`${name}: path ${path} is not anchored with $`);
  }
  return problems;
}

function checkGuard(guard: CheckedPlugin, name: string, { sold, ids }: Known): string[] {
  const products = guard.config?.products ?? [];
  const problems = products.filter((id) => !ids.has(id)).map((id) => `${name}: product ${id} is not in the catalogue`);
  if (products.length === 0) problems.push(`${name}: its ${guard.name} admits no product`);
  if (guard.config?.quota === false) problems.push(`${name}: quota is off: requests would not be counted`);
  const places = guard.config?.key_in;
  for (const id of products) {
    const wanted = sold.get(id)?.keyIn;
    if (wanted !== undefined && places?.toSorted().join() !== wanted.toSorted().join())
      problems.push(`${name}: ${id} takes its key from ${wanted.join(', ')} only`);
  }
  return problems;
}

function checkProduct(product: CheckedProduct, services: readonly CheckedService[]): string[] {
  if (product.prefix === null) {
    return services
      .filter((service) => guardsOf(service).some((guard) => guard.config?.products?.includes(product.id)))
      .map((service) => `service ${service.name ?? '(unnamed)'}: product ${product.id} publishes no route`);
  }
  const published = [
    product.prefix,
    ...product.routes.map((route) => route.path),
    `${product.prefix}/unknown`,
    ...Object.keys(product.aliases ?? {}),
  ];
  const problems = [...new Set(published)].flatMap((path) => checkPath(path, product, services));
  // `/ipx` belongs to no service: a route that takes it has no boundary.
  const beyond = `${product.prefix}x`;
  for (const service of services) {
    if (takes(service, beyond)) problems.push(`product ${product.id}: ${beyond} also reaches service ${service.name ?? '(unnamed)'}`);
  }
  return problems;
}

function checkPath(path: string, product: CheckedProduct, services: readonly CheckedService[]): string[] {
  const taking = takersOf(services, path);
  const [service] = taking;
  if (service === undefined) return [`product ${product.id}: no route takes ${path}`];
  if (taking.length > 1)
    return [`product ${product.id}: ${path} is taken by ${taking.map((each) => each.name ?? '(unnamed)').join(' and ')}`];
  const admitted = guardsOf(service)[0]?.config?.products ?? [];
  const wanted = [product.id, ...(product.alsoAdmits ?? [])];
  return admitted.join() === wanted.join()
    ? []
    : [`product ${product.id}: ${path} admits ${admitted.join(', ') || 'nothing'} instead of ${wanted.join(', ')}`];
}

function takes(service: CheckedService, path: string): boolean {
  return rankOf(service, path) !== undefined;
}

/** The services that take a path: one, or several between which kong.yml sets no preference. */
function takersOf(services: readonly CheckedService[], path: string): CheckedService[] {
  const ranked = services.map((service) => ({ service, rank: rankOf(service, path) ?? -Infinity }));
  const first = Math.max(...ranked.map(({ rank }) => rank));
  return ranked.filter(({ rank }) => rank === first && rank > -Infinity).map(({ service }) => service);
}

/** The highest `regex_priority` of a service's routes that take a path. Kong tries prefixes last; that it does is not relied on. */
function rankOf({ routes = [] }: CheckedService, path: string): number | undefined {
  const ranks = routes.flatMap(({ paths = [], regex_priority: priority = 0 }) =>
    paths.filter((pattern) => matches(pattern, path)).map((pattern) => (pattern.startsWith('~') ? priority : 0)),
  );
  return ranks.length === 0 ? undefined : Math.max(...ranks);
}

function matches(pattern: string, path: string): boolean {
  if (!pattern.startsWith('~')) return path.startsWith(pattern);
  try {
    return new RegExp(`^${pattern.slice(1)}`).test(path);
  } catch {
    return false;
  }
}
