import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADDED_PROPERTY, HIDDEN_PROPERTY } from '../../plugins/core/access/reserved-responses';
import { checkKongConf, noteKongConf } from '../../kong/check/check-kong-conf';

const kong = join(__dirname, '../../kong');
const ours = readFileSync(join(kong, 'kong.conf'), 'utf8');

describe('the check of kong.conf', () => {
  it('has nothing against the project’s own', () => {
    expect(checkKongConf(ours)).toEqual([]);
  });

  it.each<[string, (conf: string) => string, RegExp]>([
    [
      'a log level at which nginx names request lines',
      (conf) => conf.replace('log_level = alert', 'log_level = crit'),
      /log_level: must be alert/,
    ],
    ['no log level, which is Kong’s notice', (conf) => conf.replace('log_level = alert', ''), /log_level: must be alert/],
    ['an access log in Kong’s own format', (conf) => conf.replace('stdout tollgate', 'stdout'), /proxy_access_log: must use/],
    [
      'a format with the query',
      (conf) => conf.replace('$tollgate_path', '$request_uri'),
      /holds \$request_uri, which may contain an API key/,
    ],
    ['a format with the request line', (conf) => conf.replace('"path":', '"line":"$request","path":'), /holds \$request,/],
    [
      'headers with underscores beside the variable that takes them for hyphens',
      (conf) => conf.replace('nginx_proxy_underscores_in_headers = off', ''),
      /nginx_proxy_underscores_in_headers: must be off/,
    ],
    [
      'forms that may stand still for as long as nginx lets them',
      (conf) => conf.replace('nginx_location_client_body_timeout = 5s', ''),
      /nginx_location_client_body_timeout: must be at most 10s/,
    ],
    ['forms that may stand still for a minute', (conf) => conf.replace('body_timeout = 5s', 'body_timeout = 1m'), /must be at most 10s/],
    ['a format without its maps', (conf) => conf.replace(/^nginx_http_include.*$/m, ''), /nginx_http_include: must name/],
    [
      'maps after the format that uses them',
      (conf) => `${conf.replace(/^nginx_http_include.*$/m, '')}\nnginx_http_include = /etc/kong/log-maps.conf\n`,
      /come before the nginx_http_log_format/,
    ],
  ])('refuses %s', (_, change, problem) => {
    expect(checkKongConf(change(ours))).toEqual([expect.stringMatching(problem)]);
  });
});

it('a kong.conf without the variable that saves reads is right, and noted', () => {
  const without = ours.replace('; include /etc/kong/request-map.conf', '');
  expect([checkKongConf(without), noteKongConf(ours)]).toEqual([[], []]);
  expect(noteKongConf(without)).toEqual([expect.stringMatching(/^kong.conf: nginx_http_include does not include request-map.conf/)]);
});

it('kong.conf and its maps leave to an API what nginx with Lua leaves to it', () => {
  const lines = (path: string): string => readFileSync(join(kong, path), 'utf8').replaceAll('"', "'");
  const [maps = ''] = /map \$sent_http[^]*\n}\n/.exec(lines('log-maps.conf')) ?? [];
  expect(maps.match(/^map/gm)).toHaveLength(7);
  expect(lines('gateways/nginx-lua/authorizer.conf')).toContain(maps);
  expect(ours).toContain(`nginx_proxy_proxy_hide_header = ${HIDDEN_PROPERTY}\nnginx_proxy_add_header = ${ADDED_PROPERTY}\n`);
  expect(ours).toContain(`nginx_proxy_grpc_hide_header = ${HIDDEN_PROPERTY.replaceAll('proxy_', 'grpc_')}\n`);
  for (const added of ADDED_PROPERTY.split('; '))
    expect(lines('gateways/nginx-lua/guard.conf')).toContain(`add_header ${added.replace('add_header ', '')};`);
});

it('the maps of the access log leave the query and keys out, and garbage too', () => {
  const maps = readFileSync(join(kong, 'log-maps.conf'), 'utf8');
  const logged = (variable: string, text: string): string | undefined => {
    const [, map = ''] = new RegExp(`map \\$${variable} [^}]*?default "";([^]*?)\\n}`).exec(maps) ?? [];
    for (const [, pattern = '', shown = ''] of map.matchAll(/"~(.*)" (\S+);/g)) {
      const found = new RegExp(pattern).exec(text);
      if (found) return shown.replace(/"?\$\{?\w+\}?/, found[1] ?? '').replace(/"$/, '');
    }
    return undefined;
  };
  expect(logged('request', 'GET /ip?api_key=k HTTP/1.1')).toBe('GET');
  expect(logged('request', '/ip?api_key=k')).toBeUndefined();
  expect(logged('request_uri', '/ip?api_key=k')).toBe('/ip');
  expect(logged('request_uri', '/kong')).toBe('/kong');
  expect(logged('request_uri', '/ip/tg_live_a1B2/x?api_key=k')).toBe('/ip/[redacted]');
  expect(logged('request_uri', '/ip?api_key=tg_live_a1B2')).toBe('/ip');
  for (const key of ['%74g_live_a1B2', 't%67_live_a1B2', 'tg%5flive_a1B2', 'tg_%6Cive_a1B2'])
    expect(logged('request_uri', `/ip/${key}`)).toMatch(/^\/ip\/[tg_]{0,3}\[redacted]$/);
  expect(logged('request_uri', '/caf%C3%A9/a%20b%2Fc')).toBe('/caf%C3%A9/a%20b%2Fc');
});
