import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { type z } from 'zod';
import { AS_KONG_READS } from '../../as-kong-reads';
import { ConfigError } from './config-error';
import { declarativeSchema, isGrpc, isHttps, type DeclaredPlugin, type DeclaredRoute, type DeclaredService } from './declarative-schema';
import { checkPluginConfig, type PluginInfo } from './plugin-info';
import { REQUEST_TRANSFORMER, REQUEST_TRANSFORMER_PRIORITY, requestRemoval, type RequestRemoval } from './request-removal';
import { findOverride } from './upstream-override';

/** How the certificate of a service is checked. */
interface UpstreamTls {
  /** Kong's `tls_verify`: without it any certificate is accepted. */
  readonly verifies: boolean;
  /** PEM certificates for checking the service's certificate. Default: Node.js's own. */
  readonly authorities: string | undefined;
}

export interface UpstreamAddress {
  readonly host: string;
  readonly port: number;
  /** Undefined: plain HTTP. */
  readonly tls: UpstreamTls | undefined;
}

export interface LocalService extends UpstreamAddress {
  name: string;
  /** Prefix of every upstream path; `/` if the service has none. */
  path: string;
  connectTimeoutMs: number;
  readTimeoutMs: number;
  writeTimeoutMs: number;
  /** How often a failed attempt is repeated. */
  retries: number;
}

/** A plugin on a route or service with its checked configuration, as Kong would hand it to the plugin server. */
export interface PluginBinding {
  name: string;
  /** `__key__`: the plugin and its service or route. */
  key: string;
  /** Changes with every change of its configuration, so that the plugin server starts it anew. */
  identity: string;
  config: Record<string, unknown>;
  /** Settings of Kong's own request-transformer, which no plugin server runs. */
  removes?: RequestRemoval;
}

export interface LocalRoute {
  name: string;
  paths: readonly string[];
  methods: readonly string[] | undefined;
  stripPath: boolean;
  preserveHost: boolean;
  /** False: the body is streamed to the upstream. */
  requestBuffering: boolean;
  regexPriority: number;
  /** True: Kong would proxy it, but this gateway does not. */
  isGrpc: boolean;
  service: LocalService;
  /** Highest priority first. A plugin on the route replaces the same plugin on its service. */
  plugins: readonly PluginBinding[];
}

export interface GatewayConfig {
  routes: readonly LocalRoute[];
  /** SHA-256 of the file, in hex. */
  digest: string;
}

export interface ConfigSources {
  kongYmlPath: string;
  plugins: ReadonlyMap<string, PluginInfo>;
  /**
   * Addresses that replace a service's `url`, as {@link findOverride} finds them. An embedded run starts its services on free ports, which
   * kong.yml cannot name beforehand. Kong has no substitution, so this stays outside the file.
   */
  upstreamOverrides?: Readonly<Record<string, string>>;
  /** PEM certificates for checking https services, unless kong.yml names others. */
  authorities?: string | undefined;
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/** The id of Kong's default workspace differs on every installation. Here it is fixed. */
const WORKSPACE_ID = stableId('workspace', 'default');

/** Far more than people write, and more than tools write for thousands of products. */
export const MAX_KONG_YML_BYTES = 16 * 1024 * 1024;

/** Reads and checks kong.yml. Throws {@link ConfigError} that lists every problem with its path. */
export function loadConfig(sources: ConfigSources): GatewayConfig {
  const file = sources.kongYmlPath;
  const { size } = statSync(file);
  if (size > MAX_KONG_YML_BYTES) throw new ConfigError(file, [`is larger than ${MAX_KONG_YML_BYTES / 1024 / 1024} MiB`]);
  const text = readFileSync(file, 'utf8');
  const document = parseDocument(text, AS_KONG_READS);
  if (document.errors.length > 0)
    throw new ConfigError(
      file,
      document.errors.map((error) => error.message),
    );
  const parsed = declarativeSchema.safeParse(document.toJS());
  if (!parsed.success) throw new ConfigError(file, describeIssues(parsed.error));
  const problems: string[] = [...findDuplicates(parsed.data), ...checkOverrides(sources.upstreamOverrides ?? {})];
  const authorities = new Map(parsed.data.ca_certificates.map(({ id, cert }) => [id, cert]));
  const routes = parsed.data.services.flatMap((service, index) =>
    buildRoutes({ service, path: `services[${String(index)}]`, sources, authorities, problems }),
  );
  if (problems.length > 0) throw new ConfigError(file, problems);
  return { routes, digest: createHash('sha256').update(text).digest('hex') };
}

function describeIssues(error: z.ZodError): string[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path
      .map((part) => (typeof part === 'number' ? `[${String(part)}]` : `.${String(part)}`))
      .join('')
      .replace(/^\./, '');
    if (issue.code !== 'unrecognized_keys') return [`${path || 'file'}: ${issue.message}`];
    return issue.keys.map((key) => `${path === '' ? '' : `${path}.`}${key}: the local gateway does not implement this`);
  });
}

function findDuplicates({ services }: { services: readonly DeclaredService[] }): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  const note = (kind: string, name: string): void => {
    if (seen.has(`${kind} ${name}`)) problems.push(`${kind} "${name}" is declared twice`);
    seen.add(`${kind} ${name}`);
  };
  for (const service of services) {
    note('service', service.name);
    for (const route of service.routes) note('route', route.name);
  }
  return problems;
}

/** An override for a service that kong.yml does not have is ignored, because services run whether their product is sold or not. */
function checkOverrides(overrides: Readonly<Record<string, string>>): string[] {
  return Object.entries(overrides).flatMap(([name, url]) =>
    URL.canParse(url) && url.startsWith('http://') ? [] : [`upstream override "${name}": not an http:// address`],
  );
}

interface ServiceContext {
  service: DeclaredService;
  path: string;
  sources: ConfigSources;
  /** PEM certificates of `ca_certificates`, by id. */
  authorities: ReadonlyMap<string, string>;
  problems: string[];
}

function buildRoutes(context: ServiceContext): LocalRoute[] {
  const { service: declared, path, sources } = context;
  const service = buildService(context, findOverride(declared, sources.upstreamOverrides ?? {}));
  const shared = declared.plugins.flatMap((plugin, index) =>
    bindPlugin(context, { plugin, path: `${path}.plugins[${String(index)}]`, serviceId: stableId('service', declared.name) }),
  );
  return declared.routes.map((route, index) => {
    const routeId = stableId('route', route.name);
    const routePath = `${path}.routes[${String(index)}]`;
    const own = route.plugins.flatMap((plugin, at) =>
      bindPlugin(context, { plugin, path: `${routePath}.plugins[${String(at)}]`, routeId }),
    );
    return buildRoute({
      declared: route,
      isGrpc: isGrpc(route) || isGrpc(declared),
      service,
      plugins: mergePlugins(own, shared, sources.plugins),
    });
  });
}

function buildTls({ service, path, authorities, problems, sources }: ServiceContext): UpstreamTls {
  const named = service.ca_certificates?.map((id) => authorities.get(id));
  if (named?.includes(undefined)) problems.push(`${path}.ca_certificates: names one that is not there`);
  return { verifies: service.tls_verify === true, authorities: named?.join('\n') ?? sources.authorities };
}

function buildService(context: ServiceContext, override: string | undefined): LocalService {
  const { service: declared } = context;
  const address = override ?? declared.url;
  const url = address === undefined ? undefined : new URL(address);
  const host = url?.hostname ?? declared.host ?? '';
  const tls = override === undefined && isHttps(declared) ? buildTls(context) : undefined;
  const usualPort = tls ? HTTPS_PORT : HTTP_PORT;
  return {
    name: declared.name,
    host,
    port: Number(url === undefined ? (declared.port ?? usualPort) : url.port || usualPort),
    path: url?.pathname ?? declared.path ?? '/',
    connectTimeoutMs: declared.connect_timeout,
    readTimeoutMs: declared.read_timeout,
    writeTimeoutMs: declared.write_timeout,
    retries: declared.retries,
    tls,
  };
}

function buildRoute(parts: {
  declared: DeclaredRoute;
  isGrpc: boolean;
  service: LocalService;
  plugins: readonly PluginBinding[];
}): LocalRoute {
  const { declared } = parts;
  return {
    name: declared.name,
    paths: declared.paths,
    methods: declared.methods,
    stripPath: declared.strip_path,
    preserveHost: declared.preserve_host,
    requestBuffering: declared.request_buffering,
    regexPriority: declared.regex_priority,
    isGrpc: parts.isGrpc,
    service: parts.service,
    plugins: parts.plugins,
  };
}

interface PluginPlace {
  plugin: DeclaredPlugin;
  path: string;
  serviceId?: string;
  routeId?: string;
}

function bindPlugin(context: ServiceContext, place: PluginPlace): PluginBinding[] {
  const { plugin, path, serviceId = '', routeId = '' } = place;
  if (plugin.name === REQUEST_TRANSFORMER) return bindRemoval(context, place);
  const info = context.sources.plugins.get(plugin.name);
  if (info === undefined) {
    context.problems.push(`${path}.name: no plugin server declares "${plugin.name}"`);
    return [];
  }
  const checked = checkPluginConfig(info, plugin.config, path);
  context.problems.push(...checked.problems);
  if (!plugin.enabled) return [];
  const key = `plugins:${plugin.name}:${routeId}:${serviceId}:::${WORKSPACE_ID}`;
  const config = {
    ...checked.config,
    __key__: key,
    __plugin_id: stableId('plugin', key),
    ...(serviceId === '' ? { route_id: routeId } : { service_id: serviceId }),
    __ws_id: WORKSPACE_ID,
  };
  return [{ name: plugin.name, key, identity: `${key} ${JSON.stringify(checked.config)}`, config }];
}

/** Kong bundles this plugin. */
function bindRemoval({ problems }: ServiceContext, { plugin, path, serviceId = '', routeId = '' }: PluginPlace): PluginBinding[] {
  const parsed = requestRemoval.safeParse(plugin.config);
  if (!parsed.success) problems.push(...describeIssues(parsed.error).map((issue) => `${path}.config.${issue}`));
  if (!parsed.success || !plugin.enabled) return [];
  const key = `plugins:${plugin.name}:${routeId}:${serviceId}:::${WORKSPACE_ID}`;
  return [{ name: plugin.name, key, identity: key, config: {}, removes: parsed.data.remove }];
}

function mergePlugins(own: PluginBinding[], shared: PluginBinding[], plugins: ReadonlyMap<string, PluginInfo>): PluginBinding[] {
  const names = new Set(own.map((plugin) => plugin.name));
  const priority = ({ name }: PluginBinding): number =>
    name === REQUEST_TRANSFORMER ? REQUEST_TRANSFORMER_PRIORITY : (plugins.get(name)?.priority ?? 0);
  return [...own, ...shared.filter((plugin) => !names.has(plugin.name))].sort((a, b) => priority(b) - priority(a));
}

/** A UUID derived from a name, so that ids stay the same across starts, as Kong's do without a database. */
function stableId(kind: string, name: string): string {
  const hash = createHash('sha1').update(`${kind}:${name}`).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
