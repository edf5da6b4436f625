import { parse } from 'yaml';
import { NEVER_OF_APIS, OF_LIMITS } from '../../plugins/core/access/reserved-responses';

type Node = Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : []);
const nodeAt = (node: Node | undefined, name: string): Node | undefined => {
  const value = node?.[name];
  return isNode(value) ? value : undefined;
};

/** Every object in a value, including itself. */
function all(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(all);
  return isNode(value) ? [value, ...Object.values(value).flatMap(all)] : [];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const typeOf = (node: Node | undefined): string => textOf(nodeAt(node, 'typed_config')?.['@type']);
const isExtAuthz = (filter: Node): boolean => /ext_authz\.v3\.ExtAuthz$/.test(typeOf(filter));

/** Seconds of a protobuf duration such as `6s` or `0.25s`; undefined for anything else. */
function secondsOf(duration: unknown): number | undefined {
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(textOf(duration)) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}

const MAX_SECONDS = 30;

function checkFilter(config: Node): string[] {
  const problems: string[] = [];
  if (config['failure_mode_allow'] === true)
    problems.push('failure_mode_allow is true: while the access layer is away, everybody is admitted');
  if (config['failure_mode_allow_header_add'] === true) problems.push('failure_mode_allow_header_add has no effect if failures refuse');
  for (const name of ['filter_enabled', 'filter_enabled_metadata']) {
    if (config[name] !== undefined) problems.push(`${name} lets some requests pass unchecked`);
  }
  for (const name of ['allowed_headers', 'disallowed_headers']) {
    if (config[name] !== undefined) problems.push(`${name} hides headers from the access layer, which then removes none of them`);
  }
  if (config['with_request_body'] !== undefined)
    problems.push('with_request_body buffers bodies of strangers; the access layer reads none');
  if (config['encode_raw_headers'] !== true) problems.push('encode_raw_headers is not true: repeated headers arrive joined');
  const service = nodeAt(config, 'grpc_service');
  if (!service) return [...problems, 'grpc_service is missing: Envoy asks the access layer over gRPC'];
  const seconds = secondsOf(service['timeout']);
  if (seconds === undefined || seconds === 0 || seconds > MAX_SECONDS) problems.push('grpc_service has no timeout of seconds');
  if (service['retry_policy'] !== undefined || nodeAt(service, 'envoy_grpc')?.['retry_policy'] !== undefined) {
    problems.push('grpc_service has a retry_policy: a request could be charged twice');
  }
  return problems;
}

/** Settings of ext_authz for a route or virtual host, whatever name the filter has there. */
function perRoute(node: Node): Node | undefined {
  return Object.values(nodeAt(node, 'typed_per_filter_config') ?? {}).find(
    (value): value is Node => isNode(value) && /ext_authz\.v3\.ExtAuthzPerRoute$/.test(textOf(value['@type'])),
  );
}

const productsOf = (settings: Node | undefined): unknown => nodeAt(nodeAt(settings, 'check_settings'), 'context_extensions')?.['products'];

/** Whether an API can set the gateway's headers. Envoy sets the request's id itself. */
function checkResponses(name: string, levels: readonly (Node | undefined)[], settings: Node | undefined): string[] {
  const removed = levels.flatMap((level) => {
    const names = level?.['response_headers_to_remove'];
    return Array.isArray(names) ? names.map((each) => textOf(each).toLowerCase()) : [];
  });
  const statesLimits = nodeAt(nodeAt(settings, 'check_settings'), 'context_extensions')?.['rate_limit_headers'] === 'gateway';
  const wanted = [...NEVER_OF_APIS.filter((each) => each !== 'X-Kong-Request-Id'), ...(statesLimits ? OF_LIMITS : [])];
  const missing = wanted.filter((each) => !removed.includes(each.toLowerCase()));
  return missing.length === 0
    ? []
    : [`the route ${name} passes on headers that only the gateway may set. Add to it: response_headers_to_remove: [${missing.join(', ')}]`];
}

function checkRoutes(manager: Node): string[] {
  const config = nodeAt(manager, 'route_config');
  const hosts = listOf(config?.['virtual_hosts']);
  return hosts.flatMap((host) =>
    listOf(host['routes']).flatMap((route) => {
      if (route['route'] === undefined) return [];
      const name = JSON.stringify(route['match'] ?? {});
      const own = perRoute(route);
      const settings = own ?? perRoute(host);
      // Disabled on this very route, so that is intended.
      if (own?.['disabled'] === true) return [];
      if (settings?.['disabled'] === true) return [`the route ${name} is not checked: ext_authz is disabled for its virtual host`];
      if (productsOf(settings) === undefined) return [`the route ${name} names no products: all its requests are refused`];
      return checkResponses(name, [config, host, route], settings);
    }),
  );
}

function checkLogs(manager: Node): string[] {
  return listOf(manager['access_log']).flatMap((log) => {
    const format = JSON.stringify(nodeAt(nodeAt(log, 'typed_config'), 'log_format') ?? 'default');
    const isLoud =
      format === '"default"' ||
      /REQ\(:PATH|REQ\(X-ENVOY-ORIGINAL-PATH|REQ\(X-API-KEY|REQ\(AUTHORIZATION|%PATH\(WQ|%PATH%|%QUERY/i.test(format);
    return isLoud ? ['access_log records the query, and with it keys: name a format without it'] : [];
  });
}

/**
 * The dangers of an Envoy configuration that asks the access layer; empty if there are none.
 * @param text YAML or JSON of a static configuration, or of a part with its listeners
 * @throws YAMLParseError if it is neither
 */
export function checkEnvoy(text: string): string[] {
  const managers = all(parse(text)).filter((node) => /HttpConnectionManager$/.test(textOf(node['@type'])));
  if (managers.length === 0) return ['there is no HTTP connection manager to check'];
  const problems = managers.flatMap((manager) => {
    const filters = listOf(manager['http_filters']);
    const authorizer = filters.findIndex(isExtAuthz);
    const router = filters.findIndex((filter) => /router\.v3\.Router$/.test(typeOf(filter)));
    if (authorizer < 0) return ['a listener has no ext_authz: its requests are passed on unchecked'];
    const order = router >= 0 && router < authorizer ? ['ext_authz comes after the router: nothing is checked'] : [];
    return [...order, ...checkFilter(nodeAt(filters[authorizer], 'typed_config') ?? {}), ...checkRoutes(manager), ...checkLogs(manager)];
  });
  return [...new Set(problems)];
}
