import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { ConfigError } from './config-error';
import { REQUEST_MAP, REQUEST_TEXT, REQUEST_VARIABLE } from '../../../plugins/core/access/request-variable';
import { ADDED_PROPERTY, HIDDEN_PROPERTY } from '../../../plugins/core/access/reserved-responses';
import { type ReadOn } from '../../../plugins/core/problems';
import { addReadOnForKong } from '../../add-read-on';
import { DEFAULT_TEMPLATE, type ErrorTemplates } from '../http/error-pages';
import { NginxVariables } from '../http/nginx-variables';
import { type UdpPlace } from '../http/tell-answer';
import { isTrustedIpEntry, type RealIpSettings } from '../http/trusted-proxies';

/** The settings of kong.conf that the local gateway uses, with Kong's defaults for absent ones. */
export interface KongConf {
  realIp: RealIpSettings;
  /** Request bodies up to this size are passed to a plugin inline, larger ones through a file. nginx's default: 8 KiB. */
  bodyBufferBytes: number;
  /** Larger request bodies are refused with 413; 0 means no limit, Kong's default. */
  maxBodyBytes: number;
  /** Maximum pause of a client within a body that is waited for. */
  bodyTimeoutMs: number;
  /** The same for an admitted request whose body is streamed to the upstream (`request_buffering: false`). */
  uploadTimeoutMs: number;
  errorTemplates: ErrorTemplates;
  errorDefaultType: string;
  /** Names, in lower case, of the headers that Kong adds to responses. */
  responseHeaders: ReadonlySet<string>;
  /** nginx's variables, including that of request-map.conf if kong.conf includes it. */
  variables: NginxVariables;
  /** nginx's `underscores_in_headers`. If off, headers with an underscore in their name are dropped. Kong's default: on. */
  underscoresInHeaders: boolean;
  /** PEM certificates for checking https services; undefined if the file is not on this machine. */
  authorities: string | undefined;
  /** Maximum head of a service's response; a larger one is a 502. nginx's default is a memory page: 4 KiB. */
  upstreamHeadBytes: number;
  /** Unix socket of each plugin server by name. */
  pluginSockets: ReadonlyMap<string, string>;
  /** UDP address to which the access log reports responses; undefined for none. */
  answersTo: UdpPlace | undefined;
  /** Properties that Kong uses and the local gateway does not need; the caller logs them once. */
  ignored: readonly string[];
}

/** Process, storage and logging settings of a real Kong, which no client or service could notice. */
const IGNORED = new Set([
  'database', 'declarative_config', 'plugins', 'prefix', 'log_level', 'admin_listen', 'admin_gui_listen', 'status_listen', 'proxy_listen', 'nginx_worker_processes',
  'nginx_main_worker_processes', 'proxy_access_log', 'proxy_error_log', 'admin_access_log', 'admin_error_log', 'nginx_http_log_format', 'anonymous_reports', 'mem_cache_size',
  'nginx_events_worker_connections', 'upstream_keepalive_pool_size', 'upstream_keepalive_max_requests', 'upstream_keepalive_idle_timeout', 'router_flavor',
  'nginx_http_access_log', 'nginx_proxy_proxy_buffers', 'nginx_http_proxy_buffers', 'nginx_proxy_proxy_ssl_verify_depth', 'dns_stale_ttl', 'untrusted_lua', 'vitals', 'lua_socket_pool_size',
  'nginx_proxy_grpc_buffer_size', 'nginx_proxy_grpc_hide_header', 'nginx_proxy_grpc_ssl_verify', 'nginx_proxy_grpc_ssl_trusted_certificate',
  'nginx_proxy_grpc_ssl_verify_depth',
]); // prettier-ignore

const HEADER_TOKENS: Record<string, readonly string[]> = {
  server_tokens: ['server', 'via'],
  latency_tokens: ['x-kong-proxy-latency', 'x-kong-response-latency', 'x-kong-upstream-latency'],
  off: [],
};
const KNOWN_HEADERS = ['server', 'via', 'x-kong-proxy-latency', 'x-kong-response-latency', 'x-kong-upstream-latency', 'x-kong-request-id'];

const SIMPLE = new Set([
  'trusted_ips', 'real_ip_header', 'real_ip_recursive', 'nginx_http_client_body_buffer_size', 'nginx_proxy_client_body_buffer_size',
  'nginx_http_client_max_body_size', 'nginx_proxy_client_max_body_size', 'error_template_json', 'error_template_html', 'error_template_xml',
  'error_template_plain', 'error_default_type', 'headers', 'pluginserver_names', 'nginx_http_include', 'nginx_proxy_underscores_in_headers',
  'nginx_proxy_access_log', 'nginx_proxy_client_body_timeout', 'nginx_location_client_body_timeout', 'nginx_proxy_proxy_ssl_trusted_certificate',
  'nginx_proxy_proxy_hide_header', 'nginx_proxy_add_header', 'nginx_proxy_proxy_buffer_size', 'nginx_http_proxy_buffer_size',
]); // prettier-ignore

/**
 * Reads kong.conf. Throws {@link ConfigError} naming every property it does not know or cannot read.
 * @param readOn addresses of explaining pages, for the templates
 */
export function loadKongConf(path: string, readOn: ReadOn = {}): KongConf {
  const problems: string[] = [];
  const properties = parseProperties(readFileSync(path, 'utf8'), problems);
  const ignored = checkNames(properties, problems);
  const reader = new PropertyReader(properties, problems);
  // It applies to every response, whatever the setting says.
  reader.choice('nginx_proxy_proxy_hide_header', [HIDDEN_PROPERTY]);
  reader.choice('nginx_proxy_add_header', [ADDED_PROPERTY]);
  const uploadTimeoutMs = reader.milliseconds('nginx_proxy_client_body_timeout', 60_000);
  const conf: KongConf = {
    realIp: readRealIp(reader),
    bodyBufferBytes: reader.bytes(['nginx_proxy_client_body_buffer_size', 'nginx_http_client_body_buffer_size'], 8192),
    maxBodyBytes: reader.bytes(['nginx_proxy_client_max_body_size', 'nginx_http_client_max_body_size'], 0),
    bodyTimeoutMs: reader.milliseconds('nginx_location_client_body_timeout', uploadTimeoutMs),
    uploadTimeoutMs,
    errorTemplates: readTemplates(reader, dirname(path), readOn),
    errorDefaultType: reader.choice('error_default_type', ['text/plain', 'text/html', 'application/json', 'application/xml']),
    responseHeaders: readHeaders(reader),
    variables: readVariables(reader),
    authorities: readAuthorities(reader, dirname(path)),
    underscoresInHeaders: reader.choice('nginx_proxy_underscores_in_headers', ['on', 'off']) === 'on',
    upstreamHeadBytes: reader.bytes(['nginx_proxy_proxy_buffer_size', 'nginx_http_proxy_buffer_size'], 4096),
    pluginSockets: readSockets(reader),
    answersTo: readAnswersTo(reader),
    ignored,
  };
  if (problems.length > 0) throw new ConfigError(path, problems);
  return conf;
}

/** The `name = value` lines of a kong.conf in their order; other lines are added to `problems`. */
export function parseProperties(kongConf: string, problems: string[]): Map<string, string> {
  const properties = new Map<string, string>();
  kongConf.split(/\r?\n/).forEach((line, index) => {
    const text = line.replace(/(^|\s)#.*$/, '').trim();
    if (text === '') return;
    const match = /^([a-z0-9_]+)\s*=\s*(.*)$/i.exec(text);
    if (match?.[1] === undefined) problems.push(`line ${String(index + 1)}: not "name = value"`);
    else properties.set(match[1], (match[2] ?? '').replace(/^(['"])(.*)\1$/, '$2'));
  });
  return properties;
}

/** An nginx time in one unit, `500ms`, `5s` or `1m`; seconds without one. NaN for anything else. */
export function parseMilliseconds(text: string): number {
  const [, digits, unit = 's'] = /^(\d+)(ms|s|m)?$/.exec(text) ?? [];
  return digits === undefined ? NaN : Number(digits) * { ms: 1, s: 1_000, m: 60_000 }[unit as 'ms' | 's' | 'm'];
}

function checkNames(properties: Map<string, string>, problems: string[]): string[] {
  const ignored: string[] = [];
  for (const name of properties.keys()) {
    if (SIMPLE.has(name) || /^pluginserver_[a-z0-9_-]+_(socket|query_cmd|start_cmd)$/.test(name)) continue;
    if (IGNORED.has(name)) ignored.push(name);
    else problems.push(`${name}: the local gateway does not implement this property`);
  }
  return ignored;
}

class PropertyReader {
  constructor(
    private readonly properties: Map<string, string>,
    readonly problems: string[],
  ) {}

  text(name: string): string | undefined {
    const value = this.properties.get(name);
    return value === '' ? undefined : value;
  }

  list(name: string): string[] {
    return (this.text(name) ?? '')
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
  }

  /** nginx sizes: digits with k, m or g. The first name present wins. */
  bytes(names: string[], fallback: number): number {
    const name = names.find((candidate) => this.properties.has(candidate));
    if (name === undefined) return fallback;
    const match = /^(\d+)([kmg]?)$/i.exec(this.text(name) ?? '');
    if (match === null) {
      this.problems.push(`${name}: not a size such as 8k or 200m`);
      return fallback;
    }
    const unit = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }[(match[2] ?? '').toLowerCase()] ?? 1;
    return Number(match[1]) * unit;
  }

  milliseconds(name: string, fallback: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = parseMilliseconds(text);
    if (Number.isNaN(value)) this.problems.push(`${name}: not a time such as 5s or 500ms`);
    return value;
  }

  /** The first choice is the default. */
  choice(name: string, choices: readonly string[]): string {
    const value = this.text(name) ?? choices[0] ?? '';
    if (!choices.includes(value)) this.problems.push(`${name}: must be one of ${choices.join(', ')}`);
    return value;
  }
}

function readAuthorities(reader: PropertyReader, folder: string): string | undefined {
  const path = reader.text('nginx_proxy_proxy_ssl_trusted_certificate');
  if (path === undefined || !existsSync(resolve(folder, path))) return undefined;
  return readFileSync(resolve(folder, path), 'utf8');
}

function readRealIp(reader: PropertyReader): RealIpSettings {
  const trustedIps = reader.list('trusted_ips');
  for (const entry of trustedIps) {
    if (!isTrustedIpEntry(entry)) reader.problems.push(`trusted_ips: "${entry}" is neither an address nor a CIDR block`);
  }
  return {
    trustedIps: trustedIps.filter(isTrustedIpEntry),
    realIpHeader: reader.choice('real_ip_header', ['X-Real-IP', 'X-Forwarded-For']).toLowerCase(),
    recursive: reader.choice('real_ip_recursive', ['off', 'on']) === 'on',
  };
}

/** Template paths are those of Kong's machine. A missing file is looked for beside kong.conf, in `templates/`. */
function readTemplates(reader: PropertyReader, folder: string, readOn: ReadOn): ErrorTemplates {
  const templates: ErrorTemplates = { json: DEFAULT_TEMPLATE };
  for (const format of ['json', 'html', 'xml', 'plain'] as const) {
    const name = `error_template_${format}`;
    const path = reader.text(name);
    if (path === undefined) continue;
    const file = [resolve(folder, path), resolve(folder, 'templates', path.split('/').pop() ?? '')].find((candidate) =>
      existsSync(candidate),
    );
    if (file === undefined) {
      reader.problems.push(`${name}: ${path} does not exist`);
      continue;
    }
    const template = readFileSync(file, 'utf8');
    const marks = template.match(/%(.?)/gs) ?? [];
    if (marks.some((mark) => mark !== '%s' && mark !== '%%') || marks.filter((mark) => mark === '%s').length > 2) {
      reader.problems.push(`${name}: only two %s (message, request id) may stand in a template; write %% for a percent sign`);
    }
    templates[format] = addReadOnForKong(template, readOn);
  }
  return templates;
}

/** @param include the value of `nginx_http_include`; Kong passes it to nginx unchanged, so it may continue with further directives */
export const includesRequestMap = (include = ''): boolean => include.split(/[\s;]+/).some((path) => basename(path) === REQUEST_MAP);

function readVariables(reader: PropertyReader): NginxVariables {
  const variables = new NginxVariables();
  if (includesRequestMap(reader.text('nginx_http_include'))) variables.define(REQUEST_VARIABLE, REQUEST_TEXT);
  return variables;
}

/** `host:port`; undefined for any other text. */
export function parseUdpPlace(text: string): UdpPlace | undefined {
  const [, host, port] = /^\[?([\w.:-]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}

function readAnswersTo(reader: PropertyReader): UdpPlace | undefined {
  const text = reader.text('nginx_proxy_access_log');
  if (text === undefined) return undefined;
  // Further logs in the same property are not ours.
  const [, given = ''] = /(?:^|; access_log )syslog:server=([^,\s]+),nohostname,tag=tg tollgate_answer$/.exec(text) ?? [];
  const place = parseUdpPlace(given);
  if (place === undefined) reader.problems.push('nginx_proxy_access_log: not syslog:server=HOST:PORT,nohostname,tag=tg tollgate_answer');
  return place;
}

function readHeaders(reader: PropertyReader): Set<string> {
  const listed = reader.list('headers');
  const tokens = listed.length > 0 ? listed : ['server_tokens', 'latency_tokens', 'X-Kong-Request-Id'];
  const names = new Set<string>();
  for (const token of tokens) {
    const lower = token.toLowerCase();
    const group = HEADER_TOKENS[lower] ?? (KNOWN_HEADERS.includes(lower) ? [lower] : undefined);
    if (group === undefined) reader.problems.push(`headers: the local gateway does not implement "${token}"`);
    else group.forEach((name) => names.add(name));
  }
  return names;
}

/** Finds our plugin server among several by its description. Plugins of other servers are not run here. */
function readSockets(reader: PropertyReader): Map<string, string> {
  const sockets = new Map<string, string>();
  const of = (name: string, what: string): string | undefined =>
    reader.text(`pluginserver_${name.replaceAll('-', '_')}_${what}`) ?? reader.text(`pluginserver_${name}_${what}`);
  const names = reader.list('pluginserver_names');
  const ours = names.length > 1 ? names.filter((name) => of(name, 'query_cmd')?.endsWith('/access-layer.json') === true) : names;
  for (const name of ours) {
    const socket = of(name, 'socket');
    if (socket === undefined) reader.problems.push(`pluginserver_${name}_socket: missing`);
    else sockets.set(name, socket);
  }
  return sockets;
}
