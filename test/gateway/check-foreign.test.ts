import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KONG_SCHEMA } from '../../plugins/access-layer/config';
import { type CheckedProduct } from '../../kong/check/check-guard';
import { checkKongYml, type KongReport } from '../../kong/check/check-kong-yml';
import { GUARD_SETTINGS } from '../../kong/check/read-gateway';
import { ADDED_PROPERTY, HIDDEN_PROPERTY } from '../../plugins/core/access/reserved-responses';
import { checkKongConf, noteKongConf } from '../../kong/check/check-kong-conf';

const ORDERS: CheckedProduct = { id: 'orders', prefix: '/orders', routes: [{ path: '/orders' }, { path: '/orders/today' }] };

const guard = (more = ''): string => `{ name: access-layer, config: { products: [orders] }${more} }`;
/** Somebody's gateway with a service of orders; the rest is the test's. */
const gateway = (orders: string, rest = ''): string => `
_format_version: '3.0'
services:
  - name: orders
    url: http://orders.internal:8080
    retries: 0
${orders}
${rest}`;

const judge = (yaml: string): KongReport => checkKongYml(yaml, [ORDERS]);

/** Orders for every host, guarded on its service. */
const plain = (more = ''): string => `    routes: [{ name: orders, paths: [/orders], strip_path: true }]\n    plugins: [${guard(more)}]`;
/** Orders by host and method, guarded on its route. */
const hosted = `    routes:
      - { name: orders, hosts: [api.example.com], methods: [GET, POST], paths: ['~/orders(?:/|$)'], plugins: [${guard()}] }`;
const other = (route: string, url = 'http://site.internal'): string =>
  `  - { name: site, url: '${url}', routes: [{ name: site, ${route} }], plugins: [{ name: key-auth }, { name: cors, config: { products: 5 } }] }`;

describe('a gateway of somebody else, with a product on it, is right', () => {
  it.each([
    ['with the plugin on a service', gateway(plain())],
    ['with the plugin on a route', gateway(hosted)],
    ['with the lane', gateway(hosted.replace('access-layer', 'tollgate'))],
    [
      'with the plugin beside its service, as decK writes it',
      gateway('    routes: [{ name: orders, paths: [/orders] }]', `plugins:\n  - { service: { name: orders }, ${guard().slice(2)}`),
    ],
    [
      'with the plugin beside its route',
      gateway('    routes: [{ name: orders, paths: [/orders] }]', `plugins:\n  - { route: orders, ${guard().slice(2)}`),
    ],
    ['with the plugin for all', gateway('    routes: [{ name: orders, paths: [/orders] }]', `plugins:\n  - ${guard()}\n`)],
    [
      'with a route beside its service',
      gateway(`    plugins: [${guard()}]`, 'routes:\n  - { name: orders, service: { name: orders }, paths: [/orders] }'),
    ],
    [
      'with fields that narrow nothing',
      gateway(
        plain(', id: 5, instance_name: a, tags: [x], created_at: 1, protocols: [grpc, grpcs, http, https], enabled: true, consumer: null'),
      ),
    ],
    [
      'with an expression',
      gateway(
        `    routes: [{ name: o, expression: 'http.path ^= "/orders" && net.protocol == "https"', priority: 9 }]\n    plugins: [${guard()}]`,
      ),
    ],
    [
      'with consumers, certificates and upstreams',
      gateway(plain(), 'consumers: [{ username: a, plugins: [{ name: rate-limiting }] }]\ncertificates: [{ cert: x, key: y }]'),
    ],
    ['beside a website for every other path', gateway(plain(), other('paths: [/]'))],
    ['beside a website by host', gateway(hosted, other('hosts: [www.example.com]'))],
    ['beside a longer path of another host', gateway(hosted, other('hosts: [www.example.com], methods: [GET], paths: [/orders/today]'))],
    ['beside another method', gateway(hosted, other('hosts: [api.example.com], methods: [DELETE], paths: [/orders]'))],
    [
      'beside a pattern that no path of it has',
      gateway(plain(), other("paths: ['~/(?<lang>en|de)/orders$', '~/ord(?:er)?-[a-z]{2,3}$', '/orderly']")),
    ],
    ['beside fewer conditions', gateway(hosted, other('methods: [GET], paths: [/orders]'))],
    [
      'beside a service that is switched off',
      gateway(plain(), other('paths: [/orders/today]').replace('name: site,', 'name: site, enabled: false,')),
    ],
    ['beside a route of another protocol', gateway(plain(), other('protocols: [tcp], destinations: [{ port: 9 }]'))],
  ])('%s', (_, yaml) => expect(judge(yaml)).toMatchObject({ problems: [], notes: [] }));

  it('names routes that are not ours, and does not judge them', () => {
    const { others } = judge(gateway(plain(), other('paths: [/]')));
    expect(others).toEqual(["service site, route site: has no access layer; it is somebody else's"]);
  });
});

describe('a plugin that Kong runs only sometimes is a mistake:', () => {
  it.each([
    ['consumer: { username: jo }', 'only for that consumer'],
    ['consumer: jo', 'only for that consumer'],
    ['consumer_group: { name: gold }', 'only for that group of consumers'],
    ['protocols: [grpc, grpcs]', 'does not run for http, https'],
    ['protocols: [https]', 'does not run for http '],
    ['enabled: false', 'switched off'],
    ['enabled: off', 'switched off'],
    ['ordering: { before: { access: [key-auth] } }', 'has ordering'],
    ['condition: http.path == "/x"', 'has condition: the check does not know it'],
    ['partials: [{ id: 5 }]', 'has partials'],
    ['_config: shared', 'has _config'],
    ['service: { name: elsewhere }', 'names a service or route that is not in the file'],
  ])('%s', (field, problem) => {
    for (const yaml of [gateway(plain(`, ${field}`)), gateway(hosted.replace(guard(), guard(`, ${field}`)))])
      expect(judge(yaml).problems).toContainEqual(expect.stringContaining(problem));
  });

  it.each([
    ['a service that is switched off', gateway(`    enabled: false\n${plain()}`), 'service orders: is switched off'],
    ['a field of a service', gateway(`    weather: fine\n${plain()}`), 'service orders: has weather'],
    ['a field of a route', gateway(plain().replace('strip_path', 'enabled: false, strip_path')), 'route orders: has enabled'],
    ['a stream beside http', gateway(plain().replace('strip_path', 'protocols: [http, tcp], strip_path')), 'does not run for tcp'],
    ['a consumer’s plugin', gateway(plain(), `consumers: [{ username: jo, plugins: [${guard()}] }]`), 'below a consumer'],
    ['a group’s plugin', gateway(plain(), `consumer_groups: [{ name: gold, plugins: [${guard()}] }]`), 'below a consumer_group'],
    ['defaults of decK', gateway(plain(), '_info: { defaults: { route: { protocols: [https] } } }'), '_info.defaults'],
    ['a setting that it has not', gateway(plain().replace('products: [orders]', 'products: [orders], skip: true')), 'has no setting skip'],
    [
      'a plugin of the route that admits another product',
      gateway(plain().replace('strip_path: true', 'plugins: [{ name: access-layer, config: { products: [x] } }]')),
      '/orders admits x',
    ],
    [
      'both kinds',
      gateway(plain().replace('plugins: [', 'plugins: [{ name: tollgate, config: { products: [orders] } }, ')),
      'charged twice',
    ],
    ['a certificate that nobody checks', gateway(plain()).replace('http:', 'https:'), 'tls_verify must be true'],
  ])('%s', (_, yaml, problem) => expect(judge(yaml).problems).toContainEqual(expect.stringContaining(problem)));
});

describe('a route of somebody else is a mistake where it', () => {
  it.each([
    ['leads to the same address', gateway(plain(), other('paths: [/back]', 'http://ORDERS.internal:8080/v2')), 'open door'],
    ...[
      ['by an upstream', 'http://pool', '{ name: pool, targets: [{ target: "orders.internal:8080" }] }'],
      ['by an upstream of another case', 'http://pool', '{ name: Pool, targets: [{ target: "Orders.Internal.:8080" }] }'],
      ['by a target beside its upstream', 'http://pool', '{ name: pool }]\ntargets: [{ upstream: pool, target: "orders.internal:8080" }'],
      [
        'by a target that names its upstream by id',
        'http://pool',
        '{ name: pool, id: p1 }]\ntargets: [{ upstream: { id: p1 }, target: "orders.internal:8080" }',
      ],
      ['as an upstream without targets in the file', 'http://orders.internal:8080', '{ name: orders.internal }'],
      ['with a dot at its end', 'http://orders.internal.:8080'],
    ].map(([way = '', url = '', upstream = '']) => [
      `leads there ${way}`,
      gateway(plain(), `${other('paths: [/back]', url)}\nupstreams: [${upstream}]`),
      'open door',
    ]),
    ...[
      ['localhost:9000', '127.0.0.1:9000'],
      ['127.1:9000', '127.0.0.1:9000'],
      ['[::1]:80', '[0:0:0:0:0:0:0:1]'],
    ].map(([one = '', same = '']) => [
      `leads to ${one} beside ${same}`,
      gateway(plain(), other('paths: [/back]', `http://${same}`)).replace('orders.internal:8080', one),
      'open door',
    ]),
    [
      'is another route of the service',
      gateway(hosted.replace('    routes:', '    routes:\n      - { name: back, paths: [/back] }')),
      'open door',
    ],
    ['names methods too', gateway(plain(), other('methods: [PUT], paths: [/]')), 'may take PUT /orders'],
    ['has a longer path', gateway(plain(), other('paths: [/orders/today]')), 'may take GET /orders/today'],
    ['has the same path', gateway(plain(), other('paths: [/orders]')), 'may take GET /orders'],
    ['has a pattern beside a prefix', gateway(plain(), other("paths: ['~/o[a-z]+/?']")), 'may take GET /orders'],
    ['has a pattern that is not understood', gateway(plain(), other("paths: ['~(?i)/shop']")), 'may take GET /orders'],
    [
      'is preferred',
      gateway(hosted, other("hosts: [api.example.com], methods: [GET], paths: ['~/.*s$'], regex_priority: 3")),
      'may take GET api.example.com/orders',
    ],
    [
      'asks for a header too',
      gateway(hosted, other('hosts: [api.example.com], methods: [GET], paths: [/], headers: { x-beta: [two] }')),
      'with x-beta',
    ],
    [
      'asks for a server name too',
      gateway(hosted, other('hosts: [api.example.com], methods: [GET], paths: [/], snis: [api.example.com]')),
      'may take GET',
    ],
    [
      'has a host that a wildcard of ours has',
      gateway(hosted.replace('[api.', "['*."), other('hosts: [api.example.com], methods: [GET], paths: [/]')).replace('.com],', ".com'],"),
      'may take GET api.example.com',
    ],
    ['asks for a header alone', gateway(plain(), other('headers: { version: [v2] }')), 'may take GET /orders'],
    ['has an expression', gateway(plain(), other('expression: \'http.path == "/orders"\', priority: 1')), 'may take GET /orders'],
    [
      'has an expression that is not understood',
      gateway(plain(), other('expression: \'http.path == "/x" || http.method == "GET"\'')),
      'may take',
    ],
    ['has no service', gateway(plain(), 'routes: [{ name: end, paths: [/orders/today] }]'), 'route end: may take GET /orders/today'],
  ])('%s', (_, yaml, problem) => {
    expect(judge(yaml).problems).toEqual([expect.stringContaining(problem)]);
  });

  it('has hosts of its own beside a product for every host: that may be meant so, and is noted', () => {
    const { problems, notes } = judge(gateway(plain(), other('hosts: [www.example.com]')));
    expect([problems, notes]).toEqual([
      [],
      [expect.stringMatching(/^service site, route site: may take GET www\.example\.com\/orders.*hosts of its own$/)],
    ]);
  });
});

it('finds a published path that no guarded route takes, and one that two take', () => {
  const [gone] = judge(gateway(plain().replace('/orders]', '/order]').replace('/order]', '/ord/]'))).problems;
  expect(gone).toBe('product orders: no route takes /orders');
  const twice = `  - { name: again, url: 'http://x', routes: [{ name: a, paths: [/orders] }], plugins: [${guard()}] }`;
  expect(judge(gateway(plain(), twice)).problems).toEqual([
    'product orders: /orders is taken by orders and again',
    'product orders: /orders/today is taken by orders and again',
  ]);
});

it('notes each plugin that does not enforce, with its place', () => {
  const { problems, notes } = judge(gateway(hosted.replace('products: [orders]', 'products: [orders], enforce: false')));
  expect([problems, notes]).toEqual([[], [expect.stringMatching(/^service orders, route orders: its access-layer does not enforce/)]]);
  expect(notes[0]).toContain('a Bearer token of the API itself');
  const header = judge(gateway(hosted.replace('products: [orders]', 'products: [orders], enforce: false, key_in: [x-api-key]')));
  expect(header.notes).toEqual([expect.not.stringContaining('Bearer')]);
});

describe('a service that speaks gRPC', () => {
  const grpc = (more = '', url = 'grpc://orders.internal:8080'): string =>
    gateway(plain(more).replace('strip_path: true', 'protocols: [grpc, grpcs]')).replace('http://orders.internal:8080', url);

  it('is guarded by a plugin that runs for all protocols of its routes, and noted as Kong’s alone', () => {
    for (const more of ['', ', protocols: [grpc, grpcs]', ', protocols: [grpc, grpcs, http, https]']) {
      const { problems, notes } = judge(grpc(more));
      expect([problems, notes]).toEqual([
        [],
        [expect.stringMatching(/^service orders: speaks gRPC, which only Kong passes on.*do not serve it$/)],
      ]);
    }
    expect(judge(grpc('', 'grpcs://orders.internal:8080')).notes).toEqual([expect.stringContaining('nginx_proxy_grpc_ssl_verify = on')]);
  });

  it.each([
    ['grpc', 'does not run for grpcs'],
    ['http, https', 'does not run for grpc, grpcs'],
    ['grpcs, https', 'does not run for grpc '],
  ])('is not guarded by a plugin that runs for %s alone', (protocols, problem) => {
    expect(judge(grpc(`, protocols: [${protocols}]`)).problems).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    ['a route for HTTP with a longer path', 'paths: [/orders/today]', 'may take GET /orders/today'],
    ['a route for gRPC with a longer path', 'paths: [/orders/today], protocols: [grpc]', 'may take GET /orders/today'],
  ])('is missed by what %s takes: Kong chooses routes without regard to gRPC', (_what, route, problem) => {
    expect(judge(grpc() + other(route)).problems).toEqual([expect.stringContaining(problem)]);
  });

  it('is an open door where another service leads to it', () => {
    expect(judge(grpc() + other('paths: [/back], protocols: [grpc]', 'grpc://orders.internal:8080')).problems).toEqual([
      expect.stringContaining('open door'),
    ]);
  });
});

it('names a place for keys that is none', () => {
  const places = 'key_in: [header:apikey, header:Connection, header:apikey]';
  expect(judge(gateway(hosted.replace('products: [orders]', `products: [orders], ${places}`))).problems).toEqual([
    expect.stringContaining('route orders: key_in: the header connection has another meaning'),
    expect.stringContaining('key_in: names a place twice'),
  ]);
});

it('knows the settings that the plugin has, and where the lane finds the plugin server', () => {
  expect([...GUARD_SETTINGS].sort()).toEqual([...KONG_SCHEMA.flatMap((field) => Object.keys(field)), 'socket'].sort());
});

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
