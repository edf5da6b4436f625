import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { checkEnvoy } from '../../kong/gateways/check-envoy';
import { checkNginx } from '../../kong/gateways/check-nginx';
import { GATEWAY_KINDS, renderConfiguration } from '../../kong/gateways/render';
import { REQUEST_VARIABLE_PROPERTY } from '../../plugins/core/access/request-variable';

const FOLDER = join(__dirname, '../../kong/gateways');
const shipped = (path: string): string => readFileSync(join(FOLDER, path), 'utf8');
interface GuardedService {
  name: string;
  url: string;
  read_timeout: number;
  routes: { paths: string[] }[];
  plugins: { name: string; config: { products: string[]; key_in?: string[]; post_units?: number } }[];
}
/** What needs no key is Kong's alone. */
const kong = {
  services: (parse(readFileSync(join(FOLDER, '../kong.yml'), 'utf8')) as { services: GuardedService[] }).services.filter(({ plugins }) =>
    plugins.some(({ name }) => name === 'access-layer'),
  ),
};

describe('of nginx', () => {
  /** The shipped configuration with one change, which must find its place. */
  function checkChanged(file: string, from: string, to: string): string[] {
    const read = (name: string): string => {
      const text = shipped(`nginx/${name}`);
      if (name !== file) return text;
      expect(text).toContain(from);
      return text.replace(from, to);
    };
    return checkNginx(read('nginx.conf'), (name) => [read(name)]);
  }

  it('the shipped configuration has nothing dangerous', () => {
    expect(checkNginx(shipped('nginx.conf'.replace(/^/, 'nginx/')), (name) => [shipped(`nginx/${name}`)])).toEqual([]);
  });

  it.each([
    ['guard.conf', 'auth_request /_tollgate/authorize;', '', /auth_request is missing/],
    ['guard.conf', "proxy_set_header X-API-Key '';", '', /x-api-key is missing/],
    ['guard.conf', "proxy_set_header X-API-Key '';", 'proxy_set_header X-API-Key $http_x_api_key;', /x-api-key must be empty/],
    ['guard.conf', 'proxy_set_header Authorization $tollgate_authorization;', '', /authorization is missing/],
    ['guard.conf', 'proxy_set_header X-Tollgate-Context $tollgate_context;', '', /x-tollgate-context is missing/],
    ['guard.conf', "proxy_set_header X-Tollgate-Customer '';", '', /x-tollgate-customer is missing/],
    ['guard.conf', 'proxy_set_header Cookie $tollgate_cookie;', '', /cookie is missing/],
    ['guard.conf', 'Referer $tollgate_referer;', 'Referer $http_referer;', /referer must be \$tollgate_referer/],
    ['guard.conf', 'auth_request /_tollgate/authorize;', 'auth_request /_tollgate/authorize; satisfy any;', /satisfy any/],
    ['nginx.conf', 'proxy_pass http://tollgate-ip$tollgate_uri;', 'proxy_pass http://tollgate-ip;', /a key in the query goes on/],
    ['nginx.conf', 'proxy_pass http://tollgate-ip$tollgate_uri;', 'if ($arg_x) { fastcgi_pass unix:/x; }', /takes no credentials off/],
    [
      'nginx.conf',
      'location / {\n      return 404;',
      'location / {\n proxy_pass http://tollgate-ip;',
      /location \/: auth_request is missing/,
    ],
    ['nginx.conf', "set $tollgate_product 'api-ip;post_units=100';", '', undefined],
    ['server.conf', 'error_log /var/log/nginx/error.log alert;', 'error_log stderr;', /error_log is not at alert/],
    ['server.conf', 'access_log /var/log/nginx/access.log tollgate;', 'access_log /dev/stdout;', /combined writes down a key/],
    ['nginx.conf', 'include server.conf;', '', /the server has no location = \/_tollgate\/authorize/],
    ['nginx.conf', 'include guard.conf;', '', /auth_request is missing/],
    ['nginx.conf', 'server_tokens off;', 'underscores_in_headers on;', /underscores_in_headers/],
    ['nginx.conf', 'server_tokens off;', 'ignore_invalid_headers off;', /ignore_invalid_headers/],
    ['nginx.conf', 'server_tokens off;', 'merge_slashes off;', /merge_slashes/],
    ['server.conf', 'internal;', '', /internal is missing/],
    ['server.conf', 'proxy_set_header X-Forwarded-For $remote_addr;', '', /x-forwarded-for is missing/],
    ['server.conf', 'X-Forwarded-For $remote_addr', 'X-Forwarded-For $http_x_forwarded_for', /x-forwarded-for must be \$remote_addr/],
    ['server.conf', 'proxy_next_upstream off;', '', /charged twice/],
    ['authorizer.conf', '"path":"$tollgate_path"', '"path":"$request_uri"', /writes down a key/],
  ])('%s with %s changed to %p is found', (file, from, to, found) => {
    const problems = checkChanged(file, from, to);
    // A location without a product has that of none: set anywhere counts for it alone.
    expect(problems.join('\n')).toMatch(found ?? /set \$tollgate_product is missing/);
  });

  describe('with Lua', () => {
    /** The same routes, with the files of nginx-lua included. */
    function checkLua(file = '', from = '', to = ''): string {
      const read = (name: string): string => {
        const text = shipped(name === 'nginx.conf' ? 'nginx/nginx.conf' : `nginx-lua/${name}`);
        return name === file ? text.replace(from, to) : text;
      };
      return checkNginx(read('nginx.conf'), (name) => [read(name)]).join('\n');
    }

    it('the shipped configuration has nothing dangerous, and reads the request as kong.conf does', () => {
      expect(checkLua()).toBe('');
      expect(shipped('nginx-lua/guard.conf')).toContain(
        REQUEST_VARIABLE_PROPERTY.replace('nginx_proxy_set =', 'set').replace('$kong_request_id', '$request_id'),
      );
    });

    it.each([
      ['guard.conf', 'access_by_lua_file /etc/nginx/tollgate/guard.lua;', '', /auth_request is missing/],
      ['guard.conf', 'access_by_lua_file', 'satisfy any; access_by_lua_file', /satisfy any/],
      ['guard.conf', 'proxy_set_header Upgrade $tollgate_upgrade;', '', /upgrade is missing/],
      ['nginx.conf', 'proxy_pass http://tollgate-ip$tollgate_uri;', 'proxy_pass http://tollgate-ip;', /a key in the query goes on/],
      ['server.conf', 'error_log /var/log/nginx/error.log alert;', 'error_log stderr;', /error_log is not at alert/],
    ])('%s with %s changed to %p is found', (file, from, to, found) => {
      expect(checkLua(file, from, to)).toMatch(found);
    });
  });

  it('auth_request off, written down, is meant', () => {
    expect(
      checkChanged('nginx.conf', 'location / {\n      return 404;', 'location / {\n auth_request off; proxy_pass http://tollgate-ip;'),
    ).toEqual([]);
  });

  it.each(['http {', 'http { } }', 'http { server', 'location ~ ^/a{2}$ { return 404; }}'])(
    'text that is no configuration is no pass: %s',
    (text) => {
      expect(() => checkNginx(text, () => [])).toThrow();
    },
  );

  it('a server without guarded locations may log what it likes', () => {
    const other = 'http {\n server { access_log /x combined; error_log /x; location / { return 404; } }';
    expect(checkChanged('nginx.conf', 'http {', other)).toEqual([]);
  });

  it('a configuration that asks nobody is found', () => {
    expect(checkNginx('http { server { return 404; } }', () => [])).toContainEqual(expect.stringContaining('nothing asks'));
  });
});

describe('of Envoy', () => {
  it('the shipped configuration has nothing dangerous', () => {
    expect(checkEnvoy(shipped('envoy.yaml'))).toEqual([]);
  });

  it.each([
    ['failure_mode_allow: false', 'failure_mode_allow: true', /everybody is let through/],
    ['encode_raw_headers: true', 'encode_raw_headers: false', /encode_raw_headers/],
    ['timeout: 6s', 'timeout: 0s', /no timeout/],
    ['envoy_grpc: { cluster_name: tollgate }', 'envoy_grpc: { cluster_name: tollgate, retry_policy: { num_retries: 1 } }', /charged twice/],
    [
      'encode_raw_headers: true',
      'encode_raw_headers: true\n                      with_request_body: { max_request_bytes: 1 }',
      /with_request_body/,
    ],
    ['encode_raw_headers: true', 'encode_raw_headers: true\n                      filter_enabled: { default_value: {} }', /filter_enabled/],
    ['context_extensions: { products: api-ip,', 'context_extensions: { product: api-ip,', /names no products/],
    ["method: '%REQ(:METHOD)%'", "path: '%REQ(:PATH)%'", /access_log writes down the query/],
  ])('%s changed to %s is found', (from, to, found) => {
    const text = shipped('envoy.yaml');
    expect(text).toContain(from);
    expect(checkEnvoy(text.replace(from, to)).join('\n')).toMatch(found);
  });

  it('a listener without ext_authz, or with it too late, is found', () => {
    const load = (): {
      static_resources: { listeners: { filter_chains: { filters: { typed_config: { http_filters: unknown[] } }[] }[] }[] };
    } => parse(shipped('envoy.yaml')) as ReturnType<typeof load>;
    const filtersOf = (config: ReturnType<typeof load>): unknown[] =>
      config.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config.http_filters ?? [];
    const late = load();
    filtersOf(late).reverse();
    expect(checkEnvoy(stringify(late)).join()).toMatch(/after the router/);
    const none = load();
    filtersOf(none).shift();
    expect(checkEnvoy(stringify(none)).join()).toMatch(/no ext_authz/);
  });
});

describe.each(GATEWAY_KINDS)('the shipped configuration of %s', (kind) => {
  const file = { nginx: 'nginx/nginx.conf', 'nginx-lua': 'nginx/nginx.conf', caddy: 'caddy/Caddyfile', haproxy: 'haproxy/haproxy.cfg' }[
    kind
  ];

  it.each(kong.services.map((service) => [service.name, service] as const))(
    'has the routes and the price of %s as kong.yml has them',
    (_, service) => {
      const text = shipped(file);
      const [{ config } = { config: { products: [] } }] = service.plugins;
      const settings = [
        'key_in' in config ? [`key_in=${config.key_in?.join(',')}`] : [],
        'post_units' in config ? [`post_units=${config.post_units}`] : [],
      ];
      const route = [config.products.join(','), ...settings.flat()].join(';');
      expect(text).toContain(service.url.slice('http://'.length));
      // As a whole: `api-grank` is the beginning of a route at another price.
      expect(text).toMatch(new RegExp(`${route}(?!\\w|;\\w)`));
      for (const path of service.routes.flatMap(({ paths }) => paths)) expect(text).toContain(path.replace(/^~/, '').replace(/\$$/, ''));
    },
  );

  it('is moved to this machine’s places, and nowhere else', () => {
    const services = Object.fromEntries(kong.services.map(({ url }) => [/tollgate-([a-z-]+)/.exec(url)?.[1], 'http://127.0.0.1:7001']));
    const places = {
      host: '127.0.0.1',
      port: 4711,
      socketPath: '/x/forward-auth.sock',
      accessLog: '/x/access.log',
      answersTo: '127.0.0.1:4713',
      services,
    };
    const moved = renderConfiguration(kind, shipped(file), places);
    expect(moved).toContain('4711');
    expect(moved).not.toMatch(/tollgate-[a-z]+:8080|\/dev\/stdout|8000|9514/);
    expect(() => renderConfiguration(kind, shipped(file), { ...places, services: {} })).toThrow(/has no address/);
  });
});

// Neither runs in CI: what their files say about upgrades is what they do.
it('Envoy upgrades WebSockets alone, and every route of Traefik refuses another upgrade', () => {
  const upgrades = [...shipped('envoy.yaml').matchAll(/upgrade_type: *(\S+)/g)].map(([, type]) => type);
  expect(upgrades).toEqual(['websocket']);
  const { routers } = (parse(shipped('traefik.yml')) as { http: { routers: Record<string, { rule: string }> } }).http;
  for (const { rule } of Object.values(routers)) {
    const others = /&& !HeaderRegexp\(`Upgrade`, `\(\?i\)(.+)`\)$/.exec(rule)?.[1] ?? '';
    // As Traefik: the route is taken unless one of the headers matches.
    const isRouted = (...values: string[]): boolean => !values.some((value) => new RegExp(others, 'i').test(value));
    expect([isRouted(), isRouted('websocket'), isRouted('WebSocket')]).toEqual([true, true, true]);
    const refused = ['h2c', 'h2c, websocket', 'websocket, h2c', 'websocket/1', 'websocke', 'socket', 'webtocket', 'tls'];
    expect(refused.filter((value) => isRouted(value))).toEqual([]);
    expect([isRouted('websocket', 'h2c'), isRouted('h2c', 'websocket')]).toEqual([false, false]);
  }
});
