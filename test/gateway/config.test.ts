import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { loadConfig, type LocalRoute } from '../../kong/local/config/kong-yml';
import { ConfigError } from '../../kong/local/config/config-error';
import { HeaderList } from '../../kong/local/http/header-list';
import { type HttpExchange } from '../../kong/local/http/http-exchange';
import { NginxVariables } from '../../kong/local/http/nginx-variables';
import { REQUEST_TEXT, REQUEST_VARIABLE } from '../../plugins/core/access/request-variable';
import { loadKongConf } from '../../kong/local/config/kong-conf';
import { loadPluginInfo } from '../../kong/local/config/plugin-info';
import { fixtures, writeConfig } from './support/test-gateway';
import { noteServerPaths } from '../../kong/check/note-server-paths';
import { Router, upstreamPath } from '../../kong/local/config/router';
import { escapePath, isRefusedPath, normalizePath } from '../../kong/local/http/uri';

const kong = resolve(__dirname, '../../kong');
const plugins = loadPluginInfo(join(fixtures, 'access-layer.json'));

function problemsOf(load: () => unknown): readonly string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const yml = (text: string, upstreamOverrides?: Record<string, string>): readonly string[] =>
  problemsOf(() => loadConfig({ kongYmlPath: writeConfig('kong.yml', text), plugins, ...(upstreamOverrides && { upstreamOverrides }) }));
const conf = (text: string): readonly string[] => problemsOf(() => loadKongConf(writeConfig('kong.conf', text)));

const service = (more: string): string => `_format_version: "3.0"\nservices:\n  - name: ip\n    url: http://h:1\n${more}`;

describe('kong.yml', () => {
  it('of the project is taken', () => {
    const config = loadConfig({ kongYmlPath: join(kong, 'kong.yml'), plugins });
    const { services } = parse(readFileSync(join(kong, 'kong.yml'), 'utf8')) as { services: { routes: { name: string }[] }[] };
    const names = services.flatMap(({ routes }) => routes.map(({ name }) => name));
    expect(config.routes.map(({ name }) => name).sort()).toEqual(names.sort());
    expect(names.length).toBeGreaterThan(10);
    expect(config.routes.every((route) => route.plugins.length === 1)).toBe(true);
    expect(config.routes.filter(({ plugins: [plugin] }) => plugin?.name !== 'access-layer').map(({ name }) => name)).toEqual(['root']);
  });

  it('is read as Kong reads it: YAML 1.1, with merge keys', () => {
    const shared = `    <<: &slow { read_timeout: 010, write_timeout: 1_000 }\n    write_timeout: 5\n`;
    const route = `    routes: [{ name: r, paths: [/r], strip_path: no }]\n`;
    const config = loadConfig({ kongYmlPath: writeConfig('kong.yml', service(shared + route)), plugins });
    expect(config.routes[0]).toMatchObject({ stripPath: false, service: { readTimeoutMs: 8, writeTimeoutMs: 5 } });
  });

  it('fills in the defaults of the plugin schema as Kong does', () => {
    const [binding] = loadConfig({ kongYmlPath: join(kong, 'kong.yml'), plugins }).routes.find(({ name }) => name === 'ip')?.plugins ?? [];
    const keys = { key_in: ['authorization', 'x-api-key', 'query', 'form'], form_key_max_bytes: 1048576 };
    expect(binding?.config).toMatchObject({ ...keys, products: ['api-ip'], quota: true, on_quota_store_error: 'deny' });
    expect(binding?.key).toMatch(/^plugins:access-layer::[0-9a-f-]{36}:::[0-9a-f-]{36}$/);
  });

  it('may take parts off a request with Kong’s own plugin, and do nothing else with it', () => {
    const transforming = (config: string): readonly string[] =>
      yml(service(`    plugins: [{ name: request-transformer, config: ${config} }]\n    routes: [{ name: r, paths: [/r] }]`));
    expect(transforming('{ remove: { headers: [cookie], querystring: [api_key] } }')).toEqual([]);
    expect(transforming('{ add: { headers: ["a:b"] } }')).toEqual(
      expect.arrayContaining(['services[0].plugins[0].config.add: the local gateway does not implement this']),
    );
    expect(transforming('{ remove: { body: [x] } }')).toEqual([
      'services[0].plugins[0].config.remove.body: the local gateway does not implement this',
    ]);
  });

  it('may have services that speak gRPC, as Kong takes them', () => {
    const grpc = (route: string, url = 'grpc://h:1', more = ''): string =>
      `_format_version: "3.0"\nservices:\n  - { name: a, url: "${url}"${more}, routes: [{ name: r, paths: [/a.v1.A/], ${route} }] }\n`;
    const config = loadConfig({ kongYmlPath: writeConfig('kong.yml', grpc('protocols: [grpc, grpcs]')), plugins });
    expect(config.routes[0]).toMatchObject({ isGrpc: true, service: { host: 'h', port: 1 } });
    expect(yml(grpc('protocols: [grpcs]', 'grpcs://h:1'))).toEqual([]);
    expect(yml(grpc('strip_path: false'))).toEqual([]);
    const isRefused = expect.stringMatching(/^services\[0\]/);
    expect(yml(grpc('protocols: [grpc], strip_path: true'))).toEqual([isRefused]);
    expect(yml(grpc('protocols: [grpc], methods: [POST]'))).toEqual([isRefused]);
    expect(yml(grpc('protocols: [grpc, http]'))).toEqual([isRefused]);
    expect(yml(grpc('protocols: [grpc]', 'grpc://h:1/v1'))).toEqual([isRefused]);
  });

  it('is refused with every problem and its path', () => {
    const problems = yml(`_format_version: "3.0"
consumers: []
upstreams: [{ name: h, targets: [{ target: 'h:1' }] }]
services:
  - name: a
    url: ftp://h:1
    client_certificate: c
    routes:
      - name: r
        paths: [no-slash, "~/(unclosed"]
        hosts: [x]
`);
    expect(problems).toEqual(
      expect.arrayContaining([
        'consumers: the local gateway does not implement this',
        'upstreams: only Kong chooses between several addresses; give each service one url',
        'services[0].client_certificate: the local gateway does not implement this',
        'services[0].routes[0].hosts: the local gateway does not implement this',
        expect.stringMatching(/^services\[0\]\.url: must be an http:\/\/, https:\/\/, grpc:\/\/ or grpcs:\/\/ address/),
        expect.stringMatching(/^services\[0\]\.routes\[0\]\.paths\[0\]: must start with/),
        expect.stringMatching(/^services\[0\]\.routes\[0\]\.paths\[1\]: not a regular expression/),
      ]),
    );
    expect(problems).toHaveLength(7);
  });

  it.each<[string, string, readonly unknown[]]>([
    ['regular expressions that Kong reads otherwise', service('    routes: [{name: r, paths: ["~/a(?=b)"]}]\n'), [expect.anything()]],
    [
      'plugins that no plugin server declares',
      service('    plugins: [{name: key-auth}]\n'),
      ['services[0].plugins[0].name: no plugin server declares "key-auth"'],
    ],
    [
      'plugin configuration against the schema',
      service('    plugins: [{name: access-layer, config: {products: [], key_in: [cookie], qouta: true, form_key_max_bytes: many}}]\n'),
      [
        'services[0].plugins[0].config.qouta: the schema of access-layer has no such field',
        'services[0].plugins[0].config.products: needs at least 1',
        'services[0].plugins[0].config.key_in[0]: must be one of authorization, x-api-key, query, form',
        'services[0].plugins[0].config.form_key_max_bytes: expected integer',
      ],
    ],
    [
      'a plugin without its products',
      service('    plugins: [{name: access-layer}]\n'),
      ['services[0].plugins[0].config.products: required'],
    ],
    ['names that appear twice', service('  - {name: ip, url: "http://h:2"}\n'), ['service "ip" is declared twice']],
    ['text that is no YAML', 'services: [', [expect.anything()]],
    ['a variable of the environment, which is literal text', service('  - {name: a, url: "${URL}"}\n'), [expect.stringContaining('url')]],
  ])('is refused for %s', (_what, text, problems) => {
    expect(yml(text)).toEqual(problems);
  });

  it('is refused when an override is no address', () => {
    expect(yml(service(''), { other: 'http://h:1', ip: 'ftp://h' })).toEqual(['upstream override "ip": not an http:// address']);
  });

  it('takes the address of a service of ours by its own name, or by the name that its url has', () => {
    const text = `_format_version: "3.0"
services:
  - { name: rank, url: 'http://tollgate-rank:8080', routes: [{ name: a, paths: [/a] }] }
  - { name: rank-grid, url: 'http://tollgate-rank:8080', routes: [{ name: b, paths: [/b] }] }
  - { name: other, url: 'http://elsewhere:8080', routes: [{ name: c, paths: [/c] }] }`;
    const hostsWith = (upstreamOverrides: Record<string, string>) =>
      loadConfig({ kongYmlPath: writeConfig('kong.yml', text), plugins, upstreamOverrides }).routes.map(
        ({ service: { host, port } }) => `${host}:${port}`,
      );
    expect(hostsWith({ rank: 'http://h:1' })).toEqual(['h:1', 'h:1', 'elsewhere:8080']);
    expect(hostsWith({ rank: 'http://h:1', 'rank-grid': 'http://h:2' })).toEqual(['h:1', 'h:2', 'elsewhere:8080']);
    expect(hostsWith({ elsewhere: 'http://h:3', other: 'http://h:4' })).toEqual(['tollgate-rank:8080', 'tollgate-rank:8080', 'h:4']);
  });
});

describe('kong.conf', () => {
  it('of the project is taken, templates included', () => {
    const loaded = loadKongConf(join(kong, 'kong.conf'));
    expect(loaded).toMatchObject({
      bodyBufferBytes: 1024 * 1024,
      maxBodyBytes: 210 * 1024 * 1024,
      realIp: { trustedIps: [] },
      errorDefaultType: 'application/json',
      underscoresInHeaders: false,
    });
    expect(loaded.pluginSockets.get('tollgate')).toBe('/var/run/tollgate/plugin.sock');
    expect(JSON.parse(loaded.errorTemplates.json.replace(/%s/g, 'x'))).toMatchObject({ code: 'gateway_error', request_id: 'x' });
  });

  it('never logs a query string, a header or a whole request line', () => {
    const format = /^nginx_http_log_format = (.*)$/m.exec(readFileSync(join(kong, 'kong.conf'), 'utf8'))?.[1] ?? '';
    const logged = '$time_iso8601 $kong_request_id $tollgate_method $tollgate_path $status $body_bytes_sent $request_time $remote_addr';
    expect(format.match(/\$\w+/g)).toEqual(logged.split(' '));
  });

  it('is refused for what the gateway does not know and for values it cannot read', () => {
    const problems = conf(`
      ssl_cert = /x
      trusted_ips = 10.0.0.0/8, 300.1.1.1, ::1/129
      nginx_http_client_max_body_size = lots
      real_ip_header = X-Client
      headers = X-Kong-Upstream-Status
      error_template_json = /nowhere/at-all.json
      pluginserver_names = a
      not a property
    `);
    expect(problems).toEqual([
      'line 9: not "name = value"',
      'ssl_cert: the local gateway does not implement this property',
      'trusted_ips: "300.1.1.1" is neither an address nor a CIDR block',
      'trusted_ips: "::1/129" is neither an address nor a CIDR block',
      'real_ip_header: must be one of X-Real-IP, X-Forwarded-For',
      'nginx_http_client_max_body_size: not a size such as 8k or 200m',
      'error_template_json: /nowhere/at-all.json does not exist',
      'headers: the local gateway does not implement "X-Kong-Upstream-Status"',
      'pluginserver_a_socket: missing',
    ]);
  });
});

describe('the variable that kong.conf includes', () => {
  it('is, in the project, the one that the access layer reads', () => {
    const map = readFileSync(join(kong, 'request-map.conf'), 'utf8');
    expect(map.replace(/^#.*\n/gm, '')).toBe(`map "" $${REQUEST_VARIABLE} {\n  default "${REQUEST_TEXT}";\n}\n`);
  });

  it('is text and variables of nginx, and nothing where it is not included', () => {
    const exchange = { caller: { ip: '10.0.0.1' }, rawQuery: 'a=1' } as unknown as HttpExchange;
    const variables = new NginxVariables();
    expect(variables.read(exchange, 'tollgate_own')).toBe('');
    variables.define('tollgate_own', '$remote_addr\\n\\"${args}\\" costs 1\\$');
    expect(variables.read(exchange, 'tollgate_own')).toBe('10.0.0.1\n"a=1" costs 1$');
    expect(() => variables.define('tollgate_own', '$ssl_client_cert')).toThrow('does not implement the nginx variable "ssl_client_cert"');
  });
});

describe('headers as nginx has them', () => {
  const raw = ['X-A', '1', 'x_a', '2', 'X-B', '', 'Host', 'h'];

  it('are joined in a variable, which takes an underscore for a hyphen', () => {
    const headers = HeaderList.fromRaw(raw);
    expect(['x_a', 'x_b', 'x_c', 'host'].map((name) => headers.variable(name))).toEqual(['1, 2', '', '', 'h']);
  });

  it('are dropped where they have an underscore and kong.conf says so', () => {
    const headers = HeaderList.fromRaw(raw, false);
    expect([headers.variable('x_a'), headers.size]).toEqual(['1', 3]);
  });
});

describe('the plugin info', () => {
  const info = (text: string): readonly string[] => problemsOf(() => loadPluginInfo(writeConfig('info.json', text)));

  it('is refused when Kong would choose MessagePack, which lets requests through on failure', () => {
    expect(info('[]')).not.toHaveLength(0);
    expect(info('{"Protocol":"MsgPack:1","Plugins":[]}').join()).toContain('must be "ProtoBuf:1"');
  });

  it('is refused when a plugin has a phase that would not run', () => {
    const plugin = { Name: 'p', Priority: 1, Phases: ['access', 'log'], Schema: [{ config: { type: 'record', fields: [] } }] };
    expect(info(JSON.stringify({ Protocol: 'ProtoBuf:1', Plugins: [plugin] })).join()).toContain('access phase only');
  });
});

describe('the paths of plugin servers', () => {
  const kong = (service: string, route = ''): string => `
_format_version: "3.0"
services:
  - name: weather
    ${service}
    routes:
      - name: weather
        paths: [/weather]
        ${route}
    plugins: [{ name: access-layer, config: { products: [weather] } }]
`;
  const notesFor = (kongYml: string, document: object): string[] => noteServerPaths(kongYml, new Map([['weather', document]]));
  const below = (url: string, paths: object = { '/days': {} }): object => ({ servers: [{ url }], paths });

  const PLAIN = 'url: http://10.0.0.7:8000';
  it.each<[string, string, object]>([
    ['the service has the path', 'url: http://10.0.0.7:8000/v2/', below('https://api.example.com/v2')],
    ['the service has the path as a field', 'host: 10.0.0.7\n    path: /v2', below('/v2/')],
    ['there is no server', PLAIN, { paths: {} }],
    ['the server is a host', PLAIN, below('https://api.example.com/')],
    ['the server is open', PLAIN, below('https://{tenant}.example.com/{version}')],
    ['a variable of the server has no default', PLAIN, { servers: [{ url: '/{version}', variables: { version: {} } }], paths: {} }],
    ['the server is no address', PLAIN, below('http://[')],
    ['the paths have it themselves', PLAIN, below('/v2', { '/v2/days': {} })],
  ])('says nothing where %s', (_what, service, document) => {
    expect(notesFor(kong(service), document)).toEqual([]);
  });

  it('says nothing of an API that gets the whole path', () => {
    expect(notesFor(kong(PLAIN, 'strip_path: false'), below('/weather'))).toEqual([]);
  });

  it.each(['https://api.example.com/v2', '/v2', 'v2/'])(
    'names a product whose document says a path that kong.yml does not add: %s',
    (url) => {
      const text = 'product weather: its document says that the API is below /v2; add that to the url of service weather';
      expect(notesFor(kong(PLAIN), below(url))).toEqual([text]);
    },
  );

  it('takes the variables of a server for their defaults', () => {
    const variables = { tenant: { default: 'acme' }, version: { default: 'v2', enum: ['v1', 'v2'] } };
    const document = { servers: [{ url: 'https://{tenant}.example.com/api/{version}', variables }], paths: { '/days': {} } };
    expect(notesFor(kong(PLAIN), document)).toEqual([
      'product weather: its document says that the API is below /api/v2; add that to the url of service weather',
    ]);
    expect(notesFor(kong('url: http://10.0.0.7:8000/api/v2'), document)).toEqual([]);
  });
});

function route(name: string, paths: string[], more: Partial<LocalRoute> = {}): LocalRoute {
  const service = {
    name: 's', host: 'h', port: 80, path: '/', connectTimeoutMs: 1, readTimeoutMs: 1, writeTimeoutMs: 1, retries: 0, tls: undefined,
  }; // prettier-ignore
  const defaults = {
    methods: undefined,
    stripPath: false,
    preserveHost: false,
    requestBuffering: true,
    regexPriority: 0,
    isGrpc: false,
  };
  return { name, paths, ...defaults, service, plugins: [], ...more };
}

describe('the router', () => {
  const prefixes = [route('short', ['/a']), route('long', ['/a/b'])];
  const ordered = [route('first', ['~/a']), route('second', ['~/a']), route('high', ['~/a/x'], { regexPriority: 5 })];
  const methods = [route('any', ['/a/b']), route('get', ['/a'], { methods: ['GET'] })];
  const anchored = [route('whole', ['~/ip(?:/.*)?$']), route('open', ['~/x'])];

  it.each<[string, LocalRoute[], string, string, string | undefined]>([
    ['the longer prefix', prefixes, 'GET', '/a/b/c', 'long'],
    ['the prefix that is left', prefixes, 'GET', '/a/c', 'short'],
    ['a regular expression to a prefix of any length', [...prefixes, route('regex', ['~/a/'])], 'GET', '/a/b/c', 'regex'],
    ['the higher regex_priority', ordered, 'GET', '/a/x', 'high'],
    ['the order of the file', ordered, 'GET', '/a/y', 'first'],
    ['a route that names the method', methods, 'GET', '/a/b', 'get'],
    ['a route of any method', methods, 'POST', '/a/b', 'any'],
    ['a regular expression with an end', anchored, 'GET', '/ip/a', 'whole'],
    ['no regular expression whose end comes later', anchored, 'GET', '/ipx', undefined],
    ['no regular expression that matches within', anchored, 'GET', '/a/ip', undefined],
    ['a regular expression without an end', anchored, 'GET', '/xyz', 'open'],
    ['no other case', prefixes, 'GET', '/A', undefined],
  ])('takes %s', (_what, ...[routes, method, path, expected]) => {
    expect(new Router(routes).match(method, path)?.route.name).toBe(expected);
  });
});

describe('the path for the service', () => {
  const cases: [string, string, boolean, string, string][] = [
    // service path, route path, strip, request path, upstream path
    ['/', '/a', false, '/a/b', '/a/b'],
    ['/', '/a', true, '/a/b', '/b'],
    ['/', '/a', true, '/a', '/'],
    ['/', '/a', true, '/a/', '/'],
    ['/base', '/a', false, '/a/b', '/base/a/b'],
    ['/base', '/a', true, '/a/b', '/base/b'],
    ['/base', '/a', true, '/a', '/base'],
    ['/base/', '/a', true, '/a', '/base'],
    ['/base/', '/a', true, '/a/', '/base/'],
    ['/base/', '/a', false, '/a', '/base/a'],
    ['/', '/a', true, '/abc', '/bc'],
    ['/', '/a', true, '/a..', '/'],
  ];
  it.each(cases)('under %s, route %s (strip %s), %s becomes %s', (...[base, path, strip, requested, expected]) => {
    const plain = route('r', [path], { stripPath: strip });
    const match = new Router([{ ...plain, service: { ...plain.service, path: base } }]).match('GET', requested);
    expect(match && upstreamPath(match, requested)).toBe(expected);
  });

  it('strips what a regular expression matched', () => {
    const match = new Router([route('r', ['~/v[0-9]+'], { stripPath: true })]).match('GET', '/v12/x');
    expect(match && upstreamPath(match, '/v12/x')).toBe('/x');
  });
});

describe('path normalisation', () => {
  it.each([
    ['/a//b', '/a/b'],
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/a/b/..', '/a/'],
    ['/a/.', '/a/'],
    ['/%61%2e%2E/b', '/a../b'],
    ['/a/%2e%2e/b', '/b'],
    ['/a%2fb', '/a%2Fb'],
    ['/a%3fb', '/a%3Fb'],
    ['/%C3%A9', '/\u00c3\u00a9'],
    ['/', '/'],
    ['//', '/'],
  ])('%s becomes %s', (path, expected) => expect(normalizePath(path)).toBe(expected));

  it('encodes again what cannot stand in a request line', () => {
    expect(escapePath('/\u00c3\u00a9 "<>')).toBe('/%C3%A9%20%22%3C%3E');
    expect(escapePath('/a%2Fb')).toBe('/a%2Fb');
  });

  it.each(['/%zz', '/%0', '/a%00b', '/..', '/a/../../b', '/%2e%2e/x', '/a/%2e%2e%2f..%2fb'])('refuses %s', (path) =>
    expect(isRefusedPath(path)).toBe(true),
  );

  it.each(['/a/..', '/a/../b', '/a%20b', '/a..b', '/...'])('takes %s', (path) => expect(isRefusedPath(path)).toBe(false));
});
