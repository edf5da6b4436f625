import { readFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { parse } from 'yaml';
import { type CheckedProduct } from '../../kong/check/check-guard';
import { checkKongYml } from '../../kong/check/check-kong-yml';
import { PRODUCTS } from '../support/catalogue';
import { addGuard, UnguardableRoute } from '../../kong/existing/add-guard';
import { proposePlaces } from '../../kong/existing/propose-places';
import { mergeKongConf } from '../../kong/existing/merge-kong-conf';
import { loadKongConf, parseProperties } from '../../kong/local/config/kong-conf';
import { runCommand } from '../support/run-command';

const checkKongConfig = (text: string, products: readonly CheckedProduct[]): readonly string[] =>
  checkKongYml(text, products, { allGuarded: true }).problems;
const kongYml = readFileSync(join(__dirname, '../../kong/kong.yml'), 'utf8');

const change = (from: string, to: string): readonly string[] => {
  expect(kongYml).toContain(from);
  return checkKongConfig(
    kongYml.replace(from, () => to),
    PRODUCTS,
  );
};

describe('the check of kong.yml', () => {
  it('passes the file of the project', () => expect(checkKongConfig(kongYml, PRODUCTS)).toEqual([]));

  it.each([
    ['services: abc', 'kong.yml: services is not a list'],
    ['services: [abc]', 'kong.yml: services[0] is not an object'],
    ['services: [{ name: x, routes: 5 }]', 'kong.yml: services[0].routes is not a list'],
    [
      'services: [{ name: x, plugins: [{ name: access-layer, config: { products: api-ip } }] }]',
      'kong.yml: services[0].plugins[0].config.products is not a list',
    ],
    ['- a', 'kong.yml: is not an object'],
    ['', 'kong.yml: empty'],
  ])('says where %s has not the form of a kong.yml, and nothing else', (file, problem) => {
    expect(checkKongConfig(file, PRODUCTS)).toEqual([problem]);
  });

  it.each([
    [
      'a service without the access layer',
      '      - name: access-layer',
      '      - name: cors',
      'service aadhaar: has no access-layer plugin',
    ],
    ['a disabled access layer', '      - name: access-layer', '      - name: access-layer\n        enabled: false', 'open to everyone'],
    ['one that is off', '      - name: access-layer', '      - name: access-layer\n        enabled: off', 'open to everyone'],
    ['one that is No', '      - name: access-layer', '      - name: access-layer\n        enabled: No', 'open to everyone'],
    ['one that merges it', '      - name: access-layer', '      - name: access-layer\n        <<: { enabled: false }', 'open to everyone'],
    ['a product without a route', "'~/pincode(?:/.*)?$'", "'~/pin(?:/.*)?$'", 'product api-pincode: no route takes /pincode'],
    ['or without those below it', "'~/pincode(?:/.*)?$'", "'~/pin(?:/.*)?$'", 'product api-pincode: no route takes /pincode/unknown'],
    ['a prefix without a boundary', "'~/ip(?:/.*)?$'", "'/ip'", 'prefix without a boundary'],
    ['what else it reaches', "'~/ip(?:/.*)?$'", "'/ip'", 'product api-ip: /ipx also reaches service ip'],
    ['a path that is not anchored', "'~/ip(?:/.*)?$'", "'~/ip'", 'not anchored'],
    ['an unknown product', '[api-seo]', '[api-soe]', 'service seo: product api-soe is not in the catalogue'],
    ['a product under the wrong service', '[api-seo]', '[api-ip]', 'product api-seo: /seo admits api-ip instead of api-seo'],
    [
      'a product that is left out',
      '[api-image, api-background-remover]',
      '[api-image]',
      'admits api-image instead of api-image, api-background-remover',
    ],
    [
      'a product that publishes no route',
      '[api-vahaan]',
      '[api-vahaan, api-vahan]',
      'service vahaan: product api-vahan publishes no route',
    ],
    ['app keys elsewhere', 'key_in: [x-api-key]', 'key_in: [x-api-key, query]', 'service app: api-app takes its key from x-api-key only'],
    ['app keys anywhere', '          key_in: [x-api-key]\n', '', 'service app: api-app takes its key from x-api-key only'],
    ['a stripped path', 'strip_path: false', 'strip_path: true', 'strip_path must be false'],
    ['a path that is stripped by default', '        strip_path: false\n', '', 'strip_path must be false'],
    ['methods', 'strip_path: false', 'strip_path: false\n        methods: [GET]', 'names methods'],
    ['a plugin of a route', 'strip_path: false', 'strip_path: false\n        plugins: [{ name: access-layer }]', 'of its own'],
    ['a quota that is off', 'products: [api-ip]', 'products: [api-ip]\n          quota: false', 'quota is off'],
    [
      'the missing alias of the captcha refresh',
      "          - '~/api/v1/gst/refresh-captcha$'\n",
      '',
      'product api-gst: no route takes /api/v1/gst/refresh-captcha',
    ],
    ['two services for one path', "'~/seo(?:/.*)?$'", "'~/(?:seo|ip)(?:/.*)?$'", 'product api-ip: /ip is taken by ip and seo'],
    [
      'a preferred route that takes more than its own',
      "'~/grank/grid/?$'",
      "'~/gst(?:/.*)?$'",
      'product api-gst: /gst admits api-grank instead of api-gst',
    ],
  ])('finds %s', (_what, from, to, problem) => {
    expect(change(from, to)).toContainEqual(expect.stringContaining(problem));
  });

  it('takes the lane for the access layer, and finds a service with both', () => {
    const lane = kongYml.replaceAll('- name: access-layer', '- name: tollgate');
    expect(checkKongConfig(lane, PRODUCTS)).toEqual([]);
    expect(change('      - name: access-layer', '      - name: tollgate')).toEqual([]);
    const both = '      - { name: tollgate, config: { products: [api-aadhaar] } }\n      - name: access-layer';
    expect(change('      - name: access-layer', both)).toEqual([
      'service aadhaar: has both access-layer and tollgate: each request would be charged twice',
    ]);
    expect(change('    plugins:\n      - name: access-layer', '    plugins:\n      - name: cors').join('\n')).toMatch(/open to everyone/);
    const outside = `${lane}\nplugins:\n  - { name: tollgate, config: { products: [api-ip] } }\n`;
    expect(checkKongConfig(outside, PRODUCTS).join('\n')).toMatch(/has the plugin tollgate outside every service/);
  });

  it('reads the file as Kong does: YAML 1.1', () => expect(checkKongConfig(`%YAML 1.2\n---\n${kongYml}`, PRODUCTS)).toEqual([]));

  describe('lets the catalogue and the description of the API stand open', () => {
    it.each([
      ['another path', "'~/$'", "'~/admin$'"],
      ['what lies below it', "'~/openapi\\.json$'", "'~/openapi\\.json'"],
      ['a prefix', "'~/$'", '/'],
      ['another spelling', "'~/$'", "'~/(?:aadhaar)?$'"],
      ['another method', '[GET, HEAD]', '[GET, HEAD, POST]'],
      ['every method', '        methods: [GET, HEAD]\n', ''],
      [
        'another route',
        '    routes:\n      - name: root\n',
        '    routes:\n      - { name: side, methods: [GET], paths: [~/x$], strip_path: false }\n      - name: root\n',
      ],
    ])('and not %s', (_, from, to) => {
      expect(change(from, to)).toContainEqual('service dashboard: has no access-layer plugin: its routes are open to everyone');
    });

    it.each([
      ['headers: [authorization, x-api-key, cookie]', 'headers: [authorization, cookie]'],
      ['            querystring: [api_key]\n', ''],
      ['- name: request-transformer', '- name: cors'],
      ['- name: request-transformer', '- name: request-transformer\n        enabled: false'],
    ])('when a key sent there goes no further: %s as %s', (from, to) => {
      expect(change(from, to)).toEqual([
        expect.stringContaining('service dashboard: needs a request-transformer that removes authorization'),
      ]);
    });
  });

  it('finds what would go round a service and its access layer', () => {
    const withMore = (more: string): readonly string[] => checkKongConfig(`${kongYml}\n${more}`, PRODUCTS);
    expect(withMore('routes:\n  - { name: side-door, service: { name: ip }, paths: [/ip2] }')).toEqual([
      'route side-door: stands outside every service; write it below its service',
    ]);
    expect(withMore('plugins:\n  - { name: access-layer, config: { products: [api-ip] } }')).toEqual([
      expect.stringContaining('access-layer outside every service'),
    ]);
    expect(withMore('routes:\nplugins:\n  - { name: prometheus }')).toEqual([]);
  });

  it('finds uploads that Kong would hold back until the proof of their admission has expired', () => {
    const flag = '        request_buffering: false\n';
    expect(change(flag, '')).toEqual([expect.stringContaining('service app: request_buffering must be false')]);
    expect(checkKongConfig(kongYml.replaceAll(flag, ''), PRODUCTS)).toHaveLength(2);
  });

  it('finds a path for which Kong is not told which of two services it prefers', () => {
    const taken = 'product api-grank: /grank/grid is taken by grank and grank-grid';
    expect(change('        regex_priority: 1\n', '')).toEqual([taken]);
    expect(change("          - '~/grank(?:/.*)?$'\n", "          - '~/grank(?:/.*)?$'\n        regex_priority: 1\n")).toEqual([taken]);
  });

  it('finds a preferred route under the wrong product', () => {
    const more =
      '\n        regex_priority: 1\n        strip_path: false\n    plugins:\n      - name: access-layer\n        config:\n          ';
    const grid = `'~/grank/grid/?$'${more}products: `;
    const problem = 'product api-grank: /grank/grid admits api-ip instead of api-grank';
    expect(change(`${grid}[api-grank]`, `${grid}[api-ip]`)).toEqual([problem]);
  });

  it('says what is wrong with a file that is not YAML', () => expect(checkKongConfig('a: [', PRODUCTS)[0]).toMatch(/^kong.yml: /));
});

const FOREIGN = join(__dirname, '../docs/fixtures/foreign-kong.yml');
const FOREIGN_CONF = join(__dirname, '../docs/fixtures/foreign-kong.conf');

const plugins = { name: 'plugins', fallback: 'bundled', separator: ',', entry: 'access-layer' } as const;
const names = { name: 'pluginserver_names', fallback: '', separator: ',', entry: 'tollgate' } as const;
const socket = { name: 'pluginserver_tollgate_socket', value: '/run/p.sock' };
const include = { name: 'nginx_http_include', fallback: '', separator: '; include ', entry: '/t/log-maps.conf' } as const;
const accessLog = { name: 'nginx_proxy_access_log', fallback: '', separator: '; access_log ', entry: 'syslog:server=h:1 t' } as const;
const merge = (text: string) => mergeKongConf(text, { entries: [plugins, names], settings: [socket] });

describe('kong.conf of somebody else', () => {
  it.each([
    ['is absent', '', 'bundled,access-layer', 'tollgate'],
    ['names others', 'plugins = bundled, a ,b\npluginserver_names=js\n', 'bundled, a ,b,access-layer', 'js,tollgate'],
    ['has them as comments', '#plugins = bundled,x\n# pluginserver_names = none\n', 'bundled,access-layer', 'tollgate'],
    ['says it twice', 'plugins = a\nplugins = b\n', 'b,access-layer', 'tollgate'],
    ['has ours already', 'plugins = access-layer,a\npluginserver_names = tollgate\n', 'access-layer,a', 'tollgate'],
  ])('that %s is extended, and nothing in it is lost', (_what, text, wanted, servers) => {
    const { text: merged } = merge(text);
    const after = parseProperties(merged, []);
    expect([after.get('plugins'), after.get('pluginserver_names'), after.get(socket.name)]).toEqual([wanted, servers, socket.value]);
    for (const [name, value] of parseProperties(text, []))
      if (name !== 'plugins' && name !== 'pluginserver_names') expect(after.get(name)).toBe(value);
    expect(merge(merged).text).toBe(merged);
  });

  it('keeps a comment behind a value, and every line that is not ours', () => {
    const text = '# mine\nplugins = a   # and why\n\n  log_level = debug\n';
    expect(merge(text).text.startsWith('# mine\nplugins = a,access-layer   # and why\n\n  log_level = debug\n\n#')).toBe(true);
  });

  it.each([
    ['absent', '', '/t/log-maps.conf', 'syslog:server=h:1 t'],
    [
      'there',
      'nginx_http_include = /a.conf; include /b.conf\nnginx_proxy_access_log = /c.log own\n',
      '/a.conf; include /b.conf; include /t/log-maps.conf',
      '/c.log own; access_log syslog:server=h:1 t',
    ],
    ['off', 'nginx_proxy_access_log = off\n', '/t/log-maps.conf', 'off'],
  ])('whose own directives for nginx are %s keeps them beside ours', (_what, text, includes, logs) => {
    const needed = { entries: [include, accessLog], settings: [] };
    const { text: merged, kept } = mergeKongConf(text, needed);
    const after = parseProperties(merged, []);
    expect([after.get(include.name), after.get(accessLog.name)]).toEqual([includes, logs]);
    expect(kept).toEqual(logs === 'off' ? [{ name: accessLog.name, value: accessLog.entry }] : []);
    expect(mergeKongConf(merged, needed).text).toBe(merged);
  });

  it('keeps the ends of lines of Windows, and a comment before one', () => {
    const { text } = merge('plugins = a # mine\r\nlog_level = debug\r\n');
    expect(text.startsWith('plugins = a,access-layer # mine\r\nlog_level = debug\r\n')).toBe(true);
  });

  it('is never told another value than it has', () => {
    const { properties, kept, text } = merge('pluginserver_tollgate_socket = /mine.sock\n');
    expect(parseProperties(text, []).get(socket.name)).toBe('/mine.sock');
    expect([properties.some(({ name }) => name === socket.name), kept]).toEqual([false, [socket]]);
  });
});

const block = { name: 'access-layer', config: { products: ['orders'] } };

describe('kong.yml of somebody else', () => {
  it.each([
    ['below a service', 'services:\n  - name: s\n    url: http://s\n    routes:\n      - name: r # mine\n        paths: [/r]\n\n# end\n'],
    ['beside its service', 'routes:\n- name: q\n  paths: ["/q"]\n- paths: ["/r"]\n  name: r\n  service: s\n'],
    ['with plugins', 'routes:\n  - name: r\n    plugins:\n      - name: key-auth # first\n      - { name: acl }\n    paths: [/r]\n'],
  ])('gets the block on one route %s, and every line of it stays', (_what, text) => {
    const lines = addGuard(text, 'r', block).split('\n');
    const own = text.split('\n');
    for (const line of own) expect(lines).toContain(line);
    const file = parse(lines.join('\n')) as {
      routes?: { plugins?: unknown[]; name: string }[];
      services?: { routes: { plugins?: unknown[]; name: string }[] }[];
    };
    const routes = [...(file.routes ?? []), ...(file.services ?? []).flatMap(({ routes: nested }) => nested)];
    expect(routes.find(({ name }) => name === 'r')?.plugins?.at(-1)).toEqual(block);
  });

  it.each([
    ['a route in brackets', 'routes: [{ name: r, paths: [/r] }]\n'],
    ['plugins in brackets', 'routes:\n  - name: r\n    plugins: [{ name: acl }]\n'],
    ['plugins that are nothing', 'routes:\n  - name: r\n    plugins:\n'],
  ])('gets the block with %s too', (_what, text) => {
    const { routes } = parse(addGuard(text, 'r', block)) as { routes: { plugins: unknown[] }[] };
    expect(routes[0]?.plugins.at(-1)).toEqual(block);
  });

  it('stays as it is where the route has the plugin', () => {
    const once = addGuard(readFileSync(FOREIGN, 'utf8'), 'orders', block);
    expect(addGuard(once, 'orders', block)).toBe(once);
  });

  it.each([
    ['has no such route', 'routes:\n  - name: q\n', 'kong.yml has no route r; it has q'],
    [
      'shares its plugins with another route',
      'routes:\n  - name: q\n    plugins: &p\n      - name: acl\n  - name: r\n    plugins: *p\n',
      'by hand',
    ],
    ['is no YAML', 'routes: [', 'cannot be read'],
  ])('that %s is refused', (_what, text, message) => {
    expect(() => addGuard(text, 'r', block)).toThrow(UnguardableRoute);
    expect(() => addGuard(text, 'r', block)).toThrow(message);
  });
});

describe('the places of the keys that callers have', () => {
  const onRoute = (plugins: string, route = 'r'): string => `routes:\n  - { name: ${route}, paths: [/r], plugins: ${plugins} }\n`;
  const all = ['authorization', 'x-api-key', 'query', 'form'];

  it.each([
    ['without a key-auth: ours alone', onRoute('[{ name: acl }]'), undefined],
    ['as Kong has them by default', onRoute('[{ name: key-auth }]'), [...all, 'header:apikey', 'query:apikey']],
    [
      'by other names',
      onRoute('[{ name: key-auth, config: { key_names: [X-Shop, x-api-key] } }]'),
      [...all, 'header:x-shop', 'query:X-Shop', 'query:x-api-key'],
    ],
    ['of a key-auth for all routes', `plugins: [{ name: key-auth }]\n${onRoute('null')}`, [...all, 'header:apikey', 'query:apikey']],
    ['of another route: ours alone', onRoute('[{ name: key-auth }]', 'q'), undefined],
  ])('are %s', (_what, text, places) => {
    const notes = places === undefined ? [] : [expect.stringContaining(`write in the block: key_in: [${places.join(', ')}]`)];
    expect(proposePlaces(text, 'r')).toEqual(notes);
  });

  it('that cannot be are named', () => {
    const text = onRoute('[{ name: key-auth, config: { key_names: [api_key, Authorization] } }]');
    expect(proposePlaces(text, 'r')).toEqual([
      expect.stringContaining(`[${[...all, 'query:Authorization'].join(', ')}]`),
      expect.stringContaining('header:api_key'),
      expect.stringContaining('header:Authorization'),
    ]);
  });
});

describe('gateway kong', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'existing-kong-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const run = (...words: string[]) => runCommand(['gateway', 'kong', join(folder, 'out'), ...words]);
  const written = (name: string): string => readFileSync(join(folder, 'out', name), 'utf8');
  const ALL = ['--conf', FOREIGN_CONF, '--kong-yml', FOREIGN, '--route', 'orders'];

  it('writes a kong.conf with the others’ plugins and plugin servers, and the same as variables', async () => {
    const before = readFileSync(FOREIGN_CONF, 'utf8');
    expect((await run(...ALL)).code).toBe(0);
    const properties = parseProperties(written('kong.conf'), []);
    expect(properties.get('plugins')).toBe('bundled, company-audit,company-waf,access-layer');
    expect(properties.get('pluginserver_names')).toBe('audit, waf,tollgate');
    expect([...parseProperties(before, [])].filter(([name, value]) => properties.get(name) !== value).map(([name]) => name)).toEqual([
      'plugins',
      'pluginserver_names',
      'nginx_http_include',
      'nginx_proxy_access_log',
    ]);
    const variables = parseProperties(written('tollgate.env'), []);
    for (const [name, value] of parseProperties(written('tollgate.conf'), []))
      expect(variables.get(`KONG_${name.toUpperCase()}`)).toBe(value);
    // The stand-in takes it, and finds our plugin server among the three.
    expect([...loadKongConf(join(folder, 'out', 'kong.conf')).pluginSockets.keys()]).toEqual(['tollgate']);
    expect(readFileSync(FOREIGN_CONF, 'utf8')).toBe(before);
  });

  it('writes a kong.yml that the check takes, and notes what the reader’s kong.conf decides', async () => {
    const { stdout } = await run(...ALL, '--json');
    const { next, notes } = JSON.parse(stdout) as { next: string[]; notes: string[] };
    expect(next.filter((line) => /^\d\./.test(line))).toHaveLength(5);
    expect(notes).toContainEqual(expect.stringContaining('log_level'));
    const { problems, notes: kept } = checkKongYml(written('kong.yml'), [
      { id: 'orders', prefix: '/orders', routes: [{ path: '/orders' }] },
    ]);
    expect([problems, kept]).toEqual([[], [expect.stringContaining('does not enforce')]]);
    expect(notes).toContainEqual(expect.stringContaining('key_in: [authorization, x-api-key, query, form, header:apikey, query:apikey]'));
  });

  it('with the lane writes its Lua and names its folder and socket', async () => {
    expect((await run('--lane', '--socket', '/run/t/lane.sock', '--product', 'orders')).code).toBe(0);
    expect(readdirSync(join(folder, 'out/lane/kong/plugins/tollgate')).sort()).toEqual(['handler.lua', 'lane.lua', 'schema.lua']);
    const properties = parseProperties(written('tollgate.conf'), []);
    expect([...properties.keys()]).toEqual(['plugins', 'lua_package_path']);
    expect(properties.get('lua_package_path')).toBe(`${join(folder, 'out')}/lane/?.lua;./?.lua;./?/init.lua;;`);
    expect(written('route.yml')).toContain('socket: /run/t/lane.sock');
    expect(written('plugin-server.env')).toContain('LANE_LISTEN=/run/t/lane.sock');
  });

  it('keeps the settings that the reader filled in, for the owner alone, and writes the rest anew', async () => {
    await run(...ALL);
    const env = join(folder, 'out', 'plugin-server.env');
    expect(statSync(env).mode & 0o777).toBe(0o600);
    writeFileSync(env, 'DATABASE_URL=mine\n');
    expect((await run(...ALL)).code).toBe(0);
    expect(readFileSync(env, 'utf8')).toBe('DATABASE_URL=mine\n');
  });

  it('writes nothing over a file of the reader, and nothing at all then', async () => {
    const own = join(folder, 'kong.yml');
    writeFileSync(own, readFileSync(FOREIGN));
    const { code, stderr } = await runCommand(['gateway', 'kong', folder, '--kong-yml', own, '--route', 'orders']);
    expect([code, readdirSync(folder)]).toEqual([1, ['kong.yml']]);
    expect(stderr).toContain(`${own} exists and was not written by this command`);
  });

  it.each([
    [['--route', 'orders'], '--route needs your kong.yml'],
    [['--kong-yml', FOREIGN, '--route', 'none'], 'it has website, orders, stock'],
    [['--conf', '/nowhere/kong.conf'], '/nowhere/kong.conf cannot be read'],
    [['--product', 'Not an id'], 'is not a product id'],
  ])('refuses %j', async (words, message) => {
    const { code, stderr } = await run(...words);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});
