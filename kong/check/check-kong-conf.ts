import { REQUEST_MAP } from '../../plugins/core/access/request-variable';
import { includesRequestMap, parseMilliseconds, parseProperties } from '../local/config/kong-conf';

/** Levels at which nginx writes nothing about a request. At `crit` it names the whole request line when the plugin socket is missing. */
const SILENT_LEVELS: readonly string[] = ['alert', 'emerg'];
/** Twice the project's own value in kong.conf. */
const MAX_BODY_PAUSE_MS = 10_000;
/** Variables that may hold an API key. */
const KEY_VARIABLES = /\$(request|request_uri|args|query_string|is_args|arg_\w+|http_authorization|http_x_api_key|http_referer)\b/g;

/** Checks that kong.conf keeps API keys out of Kong's logs. Returns one readable line for each problem. */
export function checkKongConf(kongConf: string): string[] {
  const problems: string[] = [];
  const properties = parseProperties(kongConf, problems);
  if (!SILENT_LEVELS.includes(properties.get('log_level') ?? 'notice')) {
    problems.push('log_level: must be alert; at lower levels nginx logs the whole request line, which may contain an API key');
  }
  const format = properties.get('nginx_http_log_format') ?? '';
  const [, name = ''] = /\s(\S+)$/.exec(properties.get('proxy_access_log') ?? '') ?? [];
  if (name === '' || !format.startsWith(`${name} `)) {
    problems.push('proxy_access_log: must use the format of nginx_http_log_format; Kong’s own contains the whole request line');
  }
  for (const [variable] of format.matchAll(KEY_VARIABLES))
    problems.push(`nginx_http_log_format: holds ${variable}, which may contain an API key`);
  const [first] = [...properties.keys()].filter((property) => /^nginx_http_(include|log_format)$/.test(property));
  if (format.includes('$tollgate_') && first !== 'nginx_http_include') {
    problems.push('nginx_http_include: must name log-maps.conf, and come before the nginx_http_log_format that uses its variables');
  }
  const pause = properties.get('nginx_location_client_body_timeout') ?? properties.get('nginx_proxy_client_body_timeout') ?? '';
  if (!(parseMilliseconds(pause) <= MAX_BODY_PAUSE_MS)) {
    problems.push(
      'nginx_location_client_body_timeout: must be at most 10s; otherwise strangers could hold connections with forms that they do not send',
    );
  }
  if (includesRequestMap(properties.get('nginx_http_include')) && properties.get('nginx_proxy_underscores_in_headers') !== 'off') {
    problems.push(
      'nginx_proxy_underscores_in_headers: must be off; otherwise the variable of request-map.conf would take X_API_Key for X-API-Key',
    );
  }
  return problems.map((problem) => `kong.conf: ${problem}`);
}

/** Settings that work, but slower. */
export function noteKongConf(kongConf: string): string[] {
  return includesRequestMap(parseProperties(kongConf, []).get('nginx_http_include'))
    ? []
    : [`kong.conf: nginx_http_include does not include ${REQUEST_MAP}; without it each request takes six reads from Kong instead of one`];
}
