import { parse } from 'yaml';
import { z } from 'zod';
import { AS_KONG_READS } from '../as-kong-reads';
import { PathPattern, quoted } from './path-pattern';
import { addressesOf, readTargets } from './upstream-address';

/** The access layer as an external plugin, and over the lane (kong/lane). A route has one of the two. */
export const GUARDS = ['access-layer', 'tollgate'] as const;
type GuardName = (typeof GUARDS)[number];

/** Kong's default for plugins; for routes it is the last two. */
const PLUGIN_PROTOCOLS = ['grpc', 'grpcs', 'http', 'https'];
const ROUTE_PROTOCOLS = ['http', 'https'];

/** A list that may be absent or empty. */
function listOf<Item>(item: z.ZodType<Item>): z.ZodType<Item[] | undefined> {
  return optional(z.array(item, 'is not a list'));
}

function optional<Value>(value: z.ZodType<Value>): z.ZodType<Value | undefined> {
  return value.nullish().transform((given) => given ?? undefined);
}

const text = z.string('is not a text');
const flag = z.boolean('is not true or false');
const number = z.number('is not a number');
/** Another entity of the file: its name or id, or an object that holds one. */
const reference = optional(
  z.union([z.string(), z.looseObject({ name: z.string().nullish(), id: z.string().nullish() })], 'is not a name').transform((given) => {
    const { name, id } = typeof given === 'string' ? { name: given, id: given } : given;
    return [name, id].filter((each) => each !== null && each !== undefined);
  }),
);

/** Settings of the access layer; unknown ones are refused, as in Kong. */
const guardConfig = z.strictObject(
  {
    products: listOf(text),
    key_in: listOf(text),
    quota: optional(flag),
    post_units: optional(number),
    rate_limit_headers: optional(text),
    enforce: optional(flag),
    consumer: optional(flag),
    on_quota_store_error: optional(text),
    form_key_max_bytes: optional(number),
    form_key_timeout_ms: optional(number),
    socket: optional(text),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? `has no setting ${issue.keys.join(', ')}` : 'is not an object') },
);

export const GUARD_SETTINGS: readonly string[] = Object.keys(guardConfig.shape);

const pluginEntity = z
  .looseObject(
    {
      name: optional(text),
      enabled: optional(flag),
      protocols: listOf(text),
      service: reference,
      route: reference,
      config: z.unknown().optional(),
    },
    'is not an object',
  )
  .superRefine((plugin, context) => {
    if (!isGuard(plugin)) return;
    const { error } = guardConfig.safeParse(plugin.config ?? {});
    for (const { path, message } of error?.issues ?? []) context.addIssue({ code: 'custom', path: ['config', ...path], message });
  });

const routeEntity = z.looseObject(
  {
    name: optional(text),
    id: optional(text),
    service: reference,
    protocols: listOf(text),
    hosts: listOf(text),
    methods: listOf(text),
    paths: listOf(text),
    headers: optional(z.record(z.string(), z.array(text, 'is not a list'), 'is not an object')),
    snis: listOf(text),
    expression: optional(text),
    priority: optional(number),
    regex_priority: optional(number),
    strip_path: optional(flag),
    request_buffering: optional(flag),
    plugins: listOf(pluginEntity),
  },
  'is not an object',
);

const serviceEntity = z.looseObject(
  {
    name: optional(text),
    id: optional(text),
    enabled: optional(flag),
    url: optional(text),
    protocol: optional(text),
    host: optional(text),
    port: optional(number),
    path: optional(text),
    tls_verify: optional(flag),
    routes: listOf(routeEntity),
    plugins: listOf(pluginEntity),
  },
  'is not an object',
);

const targetEntity = z.looseObject({ target: optional(text), upstream: reference }, 'is not an object');
const upstreamEntity = z.looseObject({ name: optional(text), id: optional(text), targets: listOf(targetEntity) }, 'is not an object');
const ownerEntity = z.looseObject({ username: optional(text), name: optional(text), plugins: listOf(pluginEntity) }, 'is not an object');

/** The part of kong.yml that the check reads. Kong, or the start of the local gateway, validates the rest. */
const gatewayFile = z.looseObject(
  {
    _info: optional(z.looseObject({ defaults: z.unknown().optional() }, 'is not an object')),
    services: listOf(serviceEntity),
    routes: listOf(routeEntity),
    plugins: listOf(pluginEntity),
    upstreams: listOf(upstreamEntity),
    targets: listOf(targetEntity),
    consumers: listOf(ownerEntity),
    consumer_groups: listOf(ownerEntity),
  },
  'is not an object',
);

type PluginEntity = z.output<typeof pluginEntity>;
type RouteEntity = z.output<typeof routeEntity>;
type ServiceEntity = z.output<typeof serviceEntity>;
type GatewayFile = z.output<typeof gatewayFile>;

/** A place of the access layer in kong.yml: on a route, on a service, or global. */
export interface Guard {
  readonly name: GuardName;
  /** Its place, in words for people. */
  readonly label: string;
  readonly config: z.output<typeof guardConfig>;
  readonly isEnabled: boolean;
  readonly protocols: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
  /** Set if it is below a consumer or a group of consumers. */
  readonly owner: 'consumer' | 'consumer_group' | undefined;
  /** Its binding: a service, a route, both, or neither if it applies to the whole gateway. */
  readonly service: CheckedService | undefined;
  readonly route: CheckedRoute | undefined;
  /** True if it names a service or route that the file does not have, or one other than the one that it is below. */
  readonly isLost: boolean;
}

export interface CheckedService {
  readonly label: string;
  readonly entity: ServiceEntity;
  /** Normalised `host:port` of every address that it may call. */
  readonly addresses: readonly string[];
  readonly isEnabled: boolean;
  /** As in Kong: `http`, `grpcs`. */
  readonly protocol: string;
  readonly isHttps: boolean;
}

export interface CheckedRoute {
  readonly label: string;
  readonly entity: RouteEntity;
  readonly service: CheckedService | undefined;
  readonly protocols: readonly string[];
  readonly hosts: readonly string[] | undefined;
  readonly methods: readonly string[] | undefined;
  readonly paths: readonly PathPattern[];
  /** True if it is written below its service. */
  readonly isNested: boolean;
}

/** The entities of a kong.yml, linked to each other. */
export interface Gateway {
  readonly services: readonly CheckedService[];
  readonly routes: readonly CheckedRoute[];
  readonly guards: readonly Guard[];
  /** True if the file has defaults from which decK fills in absent fields. */
  readonly hasDefaults: boolean;
}

const isGuard = ({ name }: { readonly name?: string | undefined }): boolean => GUARDS.some((guard) => guard === name);

/** @returns the gateway, or the mistakes in its form, one text for each place */
export function readGateway(kongYml: string): Gateway | string[] {
  let file: unknown;
  try {
    file = parse(kongYml, AS_KONG_READS);
  } catch (error) {
    return [`kong.yml: ${error instanceof Error ? error.message : 'not readable'}`];
  }
  if (file === null || file === undefined) return ['kong.yml: empty'];
  const parsed = gatewayFile.safeParse(file);
  return parsed.success ? connect(parsed.data) : parsed.error.issues.map(({ path, message }) => `kong.yml: ${placeOf(path)}${message}`);
}

/** `services[0].routes `, or empty for the file itself. */
function placeOf(path: readonly PropertyKey[]): string {
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return place === '' ? '' : `${place.replace(/^\./, '')} `;
}

function connect(file: GatewayFile): Gateway {
  const targets = readTargets(file.upstreams ?? [], file.targets ?? []);
  const services = (file.services ?? []).map((entity) => toService(entity, targets));
  const nested = services.flatMap((service) => (service.entity.routes ?? []).map((entity) => toRoute(entity, service, true)));
  const single = (file.routes ?? []).map((entity) => toRoute(entity, findNamed(services, entity.service), false));
  const routes = [...nested, ...single];
  const place = (plugins: readonly PluginEntity[] | undefined, at: Partial<Pick<Guard, 'service' | 'route' | 'owner'>> = {}): Guard[] =>
    (plugins ?? []).filter(isGuard).map((plugin) => toGuard(plugin, at, { services, routes }));
  const guards = [
    ...services.flatMap((service) => place(service.entity.plugins, { service })),
    ...routes.flatMap((route) => place(route.entity.plugins, { route })),
    ...place(file.plugins),
    ...(file.consumers ?? []).flatMap(({ plugins }) => place(plugins, { owner: 'consumer' })),
    ...(file.consumer_groups ?? []).flatMap(({ plugins }) => place(plugins, { owner: 'consumer_group' })),
  ];
  const defaults = file._info?.defaults;
  return { services, routes, guards, hasDefaults: typeof defaults === 'object' && defaults !== null && Object.keys(defaults).length > 0 };
}

function findNamed<Each extends { readonly entity: { readonly name?: string | undefined; readonly id?: string | undefined } }>(
  all: readonly Each[],
  names: readonly string[] | undefined,
): Each | undefined {
  return all.find(({ entity }) => names?.some((name) => name === entity.name || name === entity.id));
}

function toService(entity: ServiceEntity, targets: ReturnType<typeof readTargets>): CheckedService {
  const url = entity.url !== undefined && URL.canParse(entity.url) ? new URL(entity.url) : undefined;
  const protocol = url?.protocol.slice(0, -1) ?? entity.protocol ?? 'http';
  const isHttps = protocol === 'https' || entity.protocol === 'https';
  const host = url?.hostname ?? entity.host ?? '';
  const port = (url && Number(url.port)) || entity.port || (isHttps || protocol === 'grpcs' ? 443 : 80);
  return {
    label: `service ${entity.name ?? '(unnamed)'}`,
    entity,
    addresses: addressesOf(host, port, targets),
    isEnabled: entity.enabled !== false,
    protocol,
    isHttps,
  };
}

function toRoute(entity: RouteEntity, service: CheckedService | undefined, isNested: boolean): CheckedRoute {
  const name = `route ${entity.name ?? '(unnamed)'}`;
  const read = entity.expression === undefined ? entity : readExpression(entity.expression);
  return {
    label: service ? `${service.label}, ${name}` : name,
    entity,
    service,
    protocols: entity.protocols ?? ROUTE_PROTOCOLS,
    hosts: orAll(read.hosts?.map((host) => host.toLowerCase().replace(/:\d+$/, ''))),
    methods: orAll(read.methods),
    paths: (orAll(read.paths) ?? ['/']).map((path) => new PathPattern(path)),
    isNested,
  };
}

function orAll<Item>(list: readonly Item[] | undefined): readonly Item[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list;
}

/** A quoted text of Kong's expressions: "…" or r#"…"#. */
const CONDITION = /^\(*\s*http\.(path|host|method)\s*(==|\^=|~)\s*(?:"([^"\\]*)"|r#"(.*?)"#)\s*\)*$/;

/**
 * The host, method and path conditions of an expression whose conditions are joined by `&&`. Other conditions are left out, so the route
 * takes no more than the result says.
 */
function readExpression(expression: string): { hosts?: string[]; methods?: string[]; paths?: string[] } {
  if (/\|\||!\s*\(/.test(expression)) return {};
  const read: { hosts?: string[]; methods?: string[]; paths?: string[] } = {};
  for (const condition of expression.split('&&')) {
    const [, field, operator, plain, raw] = CONDITION.exec(condition.trim()) ?? [];
    const value = plain ?? raw;
    if (value === undefined) continue;
    if (field === 'host' && operator === '==') read.hosts = [value];
    if (field === 'method' && operator === '==') read.methods = [value];
    // A further condition on the path makes it take less.
    if (field === 'path') read.paths = [operator === '^=' ? value : operator === '~' ? asAnchored(value) : `~${quoted(value)}$`];
  }
  return read;
}

/** A pattern in an expression may match anywhere. */
function asAnchored(pattern: string): string {
  const isAnchored = pattern.startsWith('^') && !pattern.includes('|');
  return isAnchored ? `~${pattern.slice(1)}` : `~.*(?:${pattern.replace(/^\^/, '')})`;
}

function toGuard(
  plugin: PluginEntity,
  at: Partial<Pick<Guard, 'service' | 'route' | 'owner'>>,
  { services, routes }: Pick<Gateway, 'services' | 'routes'>,
): Guard {
  // A plugin below a service may still name another service, or a route.
  const service = plugin.service ? findNamed(services, plugin.service) : at.service;
  const route = plugin.route ? findNamed(routes, plugin.route) : at.route;
  return {
    name: plugin.name === 'tollgate' ? 'tollgate' : 'access-layer',
    label: (route ?? at.route)?.label ?? (service ?? at.service)?.label ?? 'kong.yml',
    config: guardConfig.parse(plugin.config ?? {}),
    isEnabled: plugin.enabled !== false,
    protocols: plugin.protocols ?? PLUGIN_PROTOCOLS,
    fields: plugin,
    owner: at.owner,
    service,
    route,
    isLost:
      (at.service ?? service) !== service ||
      (at.route ?? route) !== route ||
      isMissing(plugin.service, service) ||
      isMissing(plugin.route, route),
  };
}

const isMissing = (names: readonly string[] | undefined, found: unknown): boolean => names !== undefined && found === undefined;
