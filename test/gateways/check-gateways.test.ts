import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { checkEnvoy } from '../../kong/gateways/check-envoy';
import { checkHaproxy } from '../../kong/gateways/check-haproxy';
import { checkNginx } from '../../kong/gateways/check-nginx';
import { apiVariableOf, NEVER_OF_APIS, OF_LIMITS, OF_PAGES } from '../../plugins/core/access/reserved-responses';
import { GATEWAY_KINDS, type GatewayKind } from '../../kong/gateways/render';
import { gatewayFiles } from '../../kong/gateways/write/gateway-files';
import { addToList } from '../../cli/commands/add-to-list';
import { describeProduct } from '../../cli/commands/new-product';
import { REQUEST_TEXT, REQUEST_VARIABLE } from '../../plugins/core/access/request-variable';

const FOLDER = join(__dirname, '../../kong/gateways');
const shipped = (path: string): string => readFileSync(join(FOLDER, path), 'utf8');
interface GuardedService {
  name: string;
  url: string;
  read_timeout: number;
  routes: { paths: string[] }[];
  plugins: { name: string; config: { products: string[]; key_in?: string[]; post_units?: number } }[];
}
const KONG = join(FOLDER, '..');
const kongYml = readFileSync(join(KONG, 'kong.yml'), 'utf8');
/** What needs no key is Kong's alone. */
const kong = {
  services: (parse(kongYml) as { services: GuardedService[] }).services.filter(({ plugins }) =>
    plugins.some(({ name }) => name === 'access-layer'),
  ),
};

const write = (kind: GatewayKind, from: string): Record<string, string> =>
  gatewayFiles({ kind, kongYml: from, shipped: KONG, folder: '/etc/nginx/tollgate', luaFolder: '/etc/nginx/tollgate' });
const ofShipped = new Map<GatewayKind, Record<string, string>>();
/** What `npx tollgate gateway` writes for the example catalogue, by file name. */
function written(kind: GatewayKind): Readonly<Record<string, string>> {
  const files = ofShipped.get(kind) ?? write(kind, kongYml);
  ofShipped.set(kind, files);
  return files;
}

it.each(GATEWAY_KINDS)('%s is written without the services that speak gRPC, which Kong alone passes on', (kind) => {
  const product = { id: 'weather', title: 'W', description: 'W.', prefix: '/weather.v1.Weather', daily: 1, monthly: 1, openapi: undefined };
  const { block } = describeProduct({ ...product, url: 'grpc://127.0.0.1:9000' });
  expect(write(kind, addToList(kongYml, { list: 'services', entry: block }))).toEqual(written(kind));
});

describe('of nginx', () => {
  /** The shipped configuration with one change, which must find its place. */
  function checkChanged(file: string, from: string | RegExp, to: string): string[] {
    const files = written('nginx');
    const read = (path: string): string => {
      const text = files[basename(path)] ?? '';
      if (basename(path) !== file) return text;
      expect(text).toMatch(from);
      return text.replace(from, to);
    };
    return checkNginx(read('nginx.conf'), (path) => [read(path)]);
  }

  it('the shipped configuration has nothing dangerous', () => {
    expect(checkChanged('nginx.conf', 'http {', 'http {')).toEqual([]);
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
    ['routes.conf', 'proxy_pass http://ip$tollgate_uri;', 'proxy_pass http://ip;', /a key in the query is passed on/],
    ['routes.conf', 'proxy_pass http://ip$tollgate_uri;', 'if ($arg_x) { fastcgi_pass unix:/x; }', /removes no credentials/],
    [
      'nginx.conf',
      'location / {\n      return 404;',
      'location / {\n proxy_pass http://tollgate-ip;',
      /location \/: auth_request is missing/,
    ],
    ['routes.conf', "set $tollgate_product 'api-ip;post_units=100';", '', undefined],
    ['server.conf', 'error_log /var/log/nginx/error.log alert;', 'error_log stderr;', /error_log is not at alert/],
    ['server.conf', 'access_log /var/log/nginx/access.log tollgate;', 'access_log /dev/stdout;', /combined records a key/],
    ['nginx.conf', 'include server.conf;', '', /the server has no location = \/_tollgate\/authorize/],
    ['routes.conf', 'include /etc/nginx/tollgate/guard.conf;', '', /auth_request is missing/],
    ['nginx.conf', 'server_tokens off;', 'underscores_in_headers on;', /underscores_in_headers/],
    ['nginx.conf', 'server_tokens off;', 'ignore_invalid_headers off;', /ignore_invalid_headers/],
    ['nginx.conf', 'server_tokens off;', 'merge_slashes off;', /merge_slashes/],
    ['server.conf', 'internal;', '', /internal is missing/],
    ['server.conf', 'proxy_set_header X-Forwarded-For $remote_addr;', '', /x-forwarded-for is missing/],
    ['server.conf', 'X-Forwarded-For $remote_addr', 'X-Forwarded-For $http_x_forwarded_for', /x-forwarded-for must be \$remote_addr/],
    ['server.conf', 'proxy_next_upstream off;', '', /charged twice/],
    ['authorizer.conf', '"path":"$tollgate_path"', '"path":"$request_uri"', /records a key/],
  ])('%s with %s changed to %p is found', (file, from, to, found) => {
    const problems = checkChanged(file, from, to);
    // A location without a product has that of none: set anywhere counts for it alone.
    expect(problems.join('\n')).toMatch(found ?? /set \$tollgate_product is missing/);
  });

  // As a folder of an earlier version has it, or a hand that left the lines out.
  it.each([
    [
      'server.conf',
      /\naccess_log syslog:\S+ tollgate_answer;/,
      '',
      'API responses are not reported. Add to the server: access_log syslog:',
    ],
    ['server.conf', 'tag=tg tollgate_answer', 'tag=nginx tollgate_answer', 'API responses are not reported'],
    [
      'authorizer.conf',
      " units=$upstream_http_x_units'",
      "'",
      'the format tollgate_answer does not report what a response costs. Write: log_format',
    ],
    [
      'authorizer.conf',
      "log_format tollgate_answer '$request_id",
      "log_format tollgate_answer '$uri",
      'cannot read the format tollgate_answer',
    ],
    [
      'guard.conf',
      'proxy_hide_header X-Units;',
      '',
      'callers see the cost that an API reports for its response. Add: proxy_hide_header X-Units;',
    ],
    ['routes.conf', 'proxy_pass http://ip$', 'access_log off; proxy_pass http://ip$', 'API responses are not reported'],
  ])('%s with %s changed to %p does not tell of answers, and is named once', (file, from, to, found) => {
    expect(checkChanged(file, from, to)).toEqual([expect.stringContaining(found)]);
  });

  it.each([
    ...[...NEVER_OF_APIS, ...OF_LIMITS, ...OF_PAGES].map((name) => ['guard.conf', `proxy_hide_header ${name};`] as const),
    ...['X-Kong-Request-Id $request_id', ...[...OF_LIMITS, ...OF_PAGES].map((name) => `${name} ${apiVariableOf(name)}`)].map(
      (line) => ['guard.conf', `add_header ${line} always;`] as const,
    ),
  ])('%s without "%s" is told to have it', (file, line) => {
    expect(checkChanged(file, line, '')).toEqual([expect.stringContaining(line)]);
  });

  it.each([
    'RateLimit $tollgate_ratelimit',
    'RateLimit-Policy $tollgate_ratelimit_policy',
    'Access-Control-Allow-Origin $tollgate_allow_origin',
    'Access-Control-Expose-Headers $tollgate_expose_headers',
    'X-Kong-Request-Id $request_id',
  ])('errors of nginx itself without "%s" are told to have it', (line) => {
    const added = `add_header ${line} always;`;
    const [before = '', errors = ''] = (written('nginx')['server.conf'] ?? '').split('location = /_tollgate/error');
    expect(errors).toContain(added);
    const changed = `${before}location = /_tollgate/error${errors.replace(added, '')}`;
    expect(checkChanged('server.conf', /^[^]*$/, changed.replaceAll('$', '$$$$'))).toEqual([expect.stringContaining(added)]);
  });

  it('a header of its own in a location, which takes all others away, and errors of nginx itself as pages are named', () => {
    const own = checkChanged(
      'routes.conf',
      'proxy_pass http://ip$',
      'if ($request_method = POST) { add_header X-Own a; proxy_pass http://ip$tollgate_uri; } proxy_pass http://ip$$',
    );
    expect(own.filter((each) => each.includes('Add beside the other add_header'))).toHaveLength(1 + OF_LIMITS.length + OF_PAGES.length);
    expect(checkChanged('server.conf', /error_page 400[^;]*;/, '')).toEqual([
      expect.stringContaining('errors of nginx itself are not JSON problems'),
    ]);
  });

  it('a route that takes its key in a header of its own, and does not take it off, is named', () => {
    const question = "set $tollgate_product 'api-vahaan;key_in=header:apikey'";
    const found = checkChanged('routes.conf', /set \$tollgate_product 'api-vahaan[^']*'/, question);
    expect(found).toEqual([expect.stringContaining('proxy_set_header apikey is missing')]);
  });

  describe('with Lua', () => {
    /** The same routes, with the files of nginx-lua included. */
    function checkLua(file = '', from = '', to = ''): string {
      const files = written('nginx-lua');
      const read = (path: string): string => {
        const text = files[basename(path)] ?? '';
        return basename(path) === file ? text.replace(from, to) : text;
      };
      return checkNginx(read('nginx.conf'), (name) => [read(name)]).join('\n');
    }

    it('the shipped configuration has nothing dangerous, and reads the request as kong.conf does', () => {
      expect(checkLua()).toBe('');
      expect(shipped('nginx-lua/guard.conf')).toContain(
        `set $${REQUEST_VARIABLE} "${REQUEST_TEXT.replace('$kong_request_id', '$request_id')}"`,
      );
    });

    it.each([
      ['guard.conf', 'access_by_lua_file /etc/nginx/tollgate/guard.lua;', '', /auth_request is missing/],
      ['guard.conf', 'access_by_lua_file', 'satisfy any; access_by_lua_file', /satisfy any/],
      ['guard.conf', 'proxy_set_header Upgrade $tollgate_upgrade;', '', /upgrade is missing/],
      ['guard.conf', 'proxy_hide_header RateLimit;', '', /own RateLimit reaches callers/],
      ['guard.conf', 'add_header x-tollgate-mode $tollgate_api_mode always;', '', /responses do not have X-Tollgate-Mode/],
      ['server.conf', 'add_header X-Kong-Request-Id $request_id always;', '', /errors of nginx itself do not have X-Kong-Request-Id/],
      ['server.conf', 'log_by_lua_file', '# log_by_lua_file', /^API responses are not reported. Add to the server: log_by_lua_file/],
    ])('%s with %s changed to %p is found', (file, from, to, found) => {
      expect(checkLua(file, from, to)).toMatch(found);
    });
  });

  it('auth_request off, written down, is meant', () => {
    const open = 'location / {\n auth_request off; proxy_pass http://tollgate-ip;';
    expect(checkChanged('nginx.conf', 'location / {\n      return 404;', open)).toEqual([]);
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

describe('of HAProxy', () => {
  /** The written files, in the order in which HAProxy is started with them, with one change that must find its place. */
  function checkChanged(from = '', to = ''): string[] {
    const files = written('haproxy');
    const text = [files['haproxy.cfg'], files['routes.cfg']].join('\n');
    expect(text).toContain(from);
    return checkHaproxy(text.replace(from, to));
  }

  it('the shipped configuration has nothing dangerous, and tells of answers', () => {
    expect(checkChanged()).toEqual([]);
  });

  it.each([...shipped('haproxy/haproxy.cfg').matchAll(/http-after-response (?:set|del)-header .*/g)].map(([line]) => line))(
    'the frontend without "%s" is told to have it',
    (line) => {
      expect(checkChanged(line, '')).toEqual([expect.stringContaining(`Add to the frontend: ${line}`)]);
    },
  );

  it.each([
    ['  http-request lua.tollgate api-ip;post_units=100\n', '', 'lua.tollgate is missing: requests are passed on unchecked'],
    [
      'unless { var(txn.tollgate_admitted) -m bool }',
      'if FALSE',
      'requests are passed on when lua.tollgate fails. Add behind it: http-request deny',
    ],
    ['  mode http\n', '  mode http\n  option httplog\n', 'a log records a key'],
    ['"caller":"%ci"', '"line":"%{+Q}r"', 'a log records a key'],
    ['log 127.0.0.1:9514 format raw local0 info', '', 'API responses are not reported. Add to global: log 127.0.0.1:9514 format raw'],
    ['"answer":"tg: ', '"answer":"', 'the plugin server cannot read the log. Add to the log-format: "answer":"tg:'],
    [' units=%[var(txn.tollgate_units)]', '', 'the log-format does not report what a response costs'],
    ['  filter lua.tollgate_trailers\n', '', 'the trailers of a request reach the API unchanged. Add to the frontend: filter lua'],
    ['  http-response set-var(txn.tollgate_units)', '  # ', 'the cost of a response is not read. Add to the frontend'],
    ['  http-response del-header X-Units\n', '', 'callers see the cost that an API reports for its response'],
  ])('%j changed to %j is named once', (from, to, found) => {
    expect(checkChanged(from, to)).toEqual([expect.stringContaining(found)]);
  });

  it.each(['', 'global\n  log stdout format raw local0'])('text that is no configuration is no pass: %j', (text) => {
    expect(() => checkHaproxy(text)).toThrow();
  });
});

describe('of Envoy', () => {
  it('the shipped configuration has nothing dangerous', () => {
    expect(checkEnvoy(shipped('envoy.yaml'))).toEqual([]);
  });

  it.each([
    ['failure_mode_allow: false', 'failure_mode_allow: true', /everybody is admitted/],
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
    ["method: '%REQ(:METHOD)%'", "path: '%REQ(:PATH)%'", /access_log records the query/],
  ])('%s changed to %s is found', (from, to, found) => {
    const text = shipped('envoy.yaml');
    expect(text).toContain(from);
    expect(checkEnvoy(text.replace(from, to)).join('\n')).toMatch(found);
  });

  it('the shipped configuration takes off what is the gateway’s to say, of an API whose limits it states', () => {
    const config = parse(shipped('envoy.yaml')).static_resources.listeners[0].filter_chains[0].filters[0].typed_config.route_config;
    const { response_headers_to_remove: ofWeather } = config.virtual_hosts[0].routes.find(
      ({ name }: { name: string }) => name === 'weather',
    );
    // It sets the request's id itself.
    expect(['X-Kong-Request-Id', ...config.response_headers_to_remove].sort()).toEqual([...NEVER_OF_APIS].sort());
    expect(ofWeather).toEqual(OF_LIMITS);
  });

  it.each([
    ['of all routes', 'X-Units', /\/ip.*Add to it: response_headers_to_remove: \[X-Units\]/],
    ['of a route whose limits Envoy states', 'RateLimit-Policy', /^the route [^ ]*weather[^ ]* .*\[RateLimit-Policy\]$/],
  ])('response headers %s that an API may say in the gateway’s name are found: %s', (_which, name, found) => {
    const text = shipped('envoy.yaml').replace(new RegExp(`(response_headers_to_remove: \\[[^\\]]*?)${name}(, )?`), '$1');
    expect(checkEnvoy(text).join()).toMatch(found);
  });

  it('a listener without ext_authz, or with it too late, is found', () => {
    const withFilters = (change: (filters: unknown[]) => unknown): string => {
      const config = parse(shipped('envoy.yaml'));
      change(config.static_resources.listeners[0].filter_chains[0].filters[0].typed_config.http_filters);
      return checkEnvoy(stringify(config)).join();
    };
    expect(withFilters((filters) => filters.reverse())).toMatch(/after the router/);
    expect(withFilters((filters) => filters.shift())).toMatch(/no ext_authz/);
  });
});

describe.each(GATEWAY_KINDS)('what is written from kong.yml for %s', (kind) => {
  const whole = (from?: string): string => Object.values(from === undefined ? written(kind) : write(kind, from)).join('\n');

  it.each(kong.services.map((service) => [service.name, service] as const))(
    'has the routes and the price of %s as kong.yml has them',
    (_, service) => {
      // HAProxy reads paths as they were sent, where a line feed is written otherwise.
      const text = whole().replaceAll('(?:(?!%0[aA]).)', '.');
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

  it('has a product of the seller’s own with its prefix taken off, its address, and no product that is not sold', () => {
    const sold = { id: 'weather', title: 'Weather', description: 'Rain.', prefix: '/weather', daily: 3, monthly: 60, openapi: undefined };
    const { block } = describeProduct({ ...sold, url: 'https://api.example.com/v2' });
    const own = addToList(readFileSync(join(KONG, 'new-folder', 'kong.yml'), 'utf8'), { list: 'services', entry: block });
    const text = whole(own);
    expect(text).toContain('weather;strip_path=/weather;rate_limit_headers=gateway');
    expect(text).toMatch(/api\.example\.com:443/);
    expect(text).toMatch(/(proxy_ssl_verify on|reverse_proxy https:\/\/|verify required ca-file)/);
    expect(text).toContain('/v2');
    expect(Object.entries(write(kind, own)).filter(([name, each]) => name.startsWith('routes') && /tollgate-/.test(each))).toEqual([]);
  });

  it('is refused where only Kong can do what kong.yml says, naming the place', () => {
    const unanchored = kongYml.replace(/(\/vahaan\S+\s+strip_path: )false/, '$1true');
    expect(() => write(kind, unanchored)).toThrow('route vahaan: strip_path needs the paths');
  });

  it('is moved to this machine’s places, and nowhere else', () => {
    const services = Object.fromEntries(kong.services.map(({ url }) => [/tollgate-([a-z-]+)/.exec(url)?.[1], 'http://127.0.0.1:7001']));
    const listen = { host: '127.0.0.1', port: 4711 };
    const places = { listen, socketPath: '/x/forward-auth.sock', accessLog: '/x/access.log', answersTo: '127.0.0.1:4713', services };
    const moved = Object.values(gatewayFiles({ kind, kongYml, shipped: KONG, folder: '/x', luaFolder: '/x', ...places })).join('\n');
    expect(moved).toContain('4711');
    expect(moved).not.toMatch(/tollgate-[a-z]+:8080|\/dev\/stdout|listen 8000|:8000|9514/);
  });
});

// It does not run in CI: what its file says is what it does.
it('Envoy upgrades WebSockets alone, and shows an API of the seller’s own: its prefix taken off, its own Host, and the RateLimit fields', () => {
  const upgrades = [...shipped('envoy.yaml').matchAll(/upgrade_type: *(\S+)/g)].map(([, type]) => type);
  expect(upgrades).toEqual(['websocket']);
  const { static_resources: envoy } = parse(shipped('envoy.yaml')) as { static_resources: object };
  const route = JSON.stringify(envoy).match(/\{"name":"weather","match".*?"check_settings":\{.*?\}\}/)?.[0] ?? '';
  expect(route).toContain('"context_extensions":{"products":"weather","rate_limit_headers":"gateway"}');
  const [, pattern = ''] = /"regex_rewrite":\{"pattern":\{"regex":"(.*?)"\},"substitution":"\/"\}/.exec(route) ?? [];
  expect(['/weather', '/weather/', '/weather/pune'].map((path) => path.replace(new RegExp(pattern), '/'))).toEqual(['/', '/', '/pune']);
  expect(route).toContain('"auto_host_rewrite":true');
});
