import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkKongConfig } from '../../kong/check';
import { PRODUCTS } from '../support/catalogue';

const kongYml = readFileSync(join(__dirname, '../../kong/kong.yml'), 'utf8');

const change = (from: string, to: string): string[] => {
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

  it('finds a service without the access layer', () => {
    expect(change('      - name: access-layer', '      - name: cors')).toContainEqual(
      expect.stringContaining('service aadhaar: has no access-layer plugin'),
    );
    expect(change('      - name: access-layer', '      - name: access-layer\n        enabled: false')).toContainEqual(
      expect.stringContaining('open to everyone'),
    );
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

  it('reads the file as Kong does: YAML 1.1, with merge keys', () => {
    const disabled = (how: string): string[] => change('      - name: access-layer', `      - name: access-layer\n        ${how}`);
    for (const how of ['enabled: off', 'enabled: No', '<<: { enabled: false }'])
      expect(disabled(how)).toContainEqual(expect.stringContaining('open to everyone'));
    expect(checkKongConfig(`%YAML 1.2\n---\n${kongYml}`, PRODUCTS)).toEqual([]);
  });

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

  it('finds a product without a route', () => {
    expect(change("'~/pincode(?:/.*)?$'", "'~/pin(?:/.*)?$'")).toEqual(
      expect.arrayContaining(['product api-pincode: no route takes /pincode', 'product api-pincode: no route takes /pincode/unknown']),
    );
  });

  it('finds what would go round a service and its access layer', () => {
    const withMore = (more: string): string[] => checkKongConfig(`${kongYml}\n${more}`, PRODUCTS);
    expect(withMore('routes:\n  - { name: side-door, service: { name: ip }, paths: [/ip2] }')).toEqual([
      'route side-door: stands outside every service; write it below its service',
    ]);
    expect(withMore('plugins:\n  - { name: access-layer, config: { products: [api-ip] } }')).toEqual([
      expect.stringContaining('access-layer outside every service'),
    ]);
    expect(withMore('routes:\nplugins:\n  - { name: prometheus }')).toEqual([]);
  });

  it('finds a path that is not anchored', () => {
    const problems = change("'~/ip(?:/.*)?$'", "'/ip'");
    expect(problems).toContainEqual(expect.stringContaining('prefix without a boundary'));
    expect(problems).toContainEqual('product api-ip: /ipx also reaches service ip');
    expect(change("'~/ip(?:/.*)?$'", "'~/ip'")).toContainEqual(expect.stringContaining('not anchored'));
  });

  it('finds an unknown product and a product under the wrong service', () => {
    expect(change('[api-seo]', '[api-soe]')).toEqual(
      expect.arrayContaining([
        'service seo: product api-soe is not in the catalogue',
        'product api-seo: /seo admits api-soe instead of api-seo',
      ]),
    );
    expect(change('[api-seo]', '[api-ip]')).toContainEqual('product api-seo: /seo admits api-ip instead of api-seo');
    expect(change('[api-image, api-background-remover]', '[api-image]')).toContainEqual(
      expect.stringContaining('admits api-image instead of api-image, api-background-remover'),
    );
  });

  it('finds a product that publishes no route', () => {
    expect(change('[api-vahaan]', '[api-vahaan, api-vahan]')).toContainEqual('service vahaan: product api-vahan publishes no route');
  });

  it('finds app keys outside X-API-Key', () => {
    expect(change('key_in: [x-api-key]', 'key_in: [x-api-key, query]')).toEqual(['service app: api-app takes its key from x-api-key only']);
    expect(change('          key_in: [x-api-key]\n', '')).toEqual(['service app: api-app takes its key from x-api-key only']);
  });

  it('finds uploads that Kong would hold back until the proof of their admission has expired', () => {
    const flag = '        request_buffering: false\n';
    expect(change(flag, '')).toEqual([expect.stringContaining('service app: request_buffering must be false')]);
    expect(checkKongConfig(kongYml.replaceAll(flag, ''), PRODUCTS)).toHaveLength(2);
  });

  it('finds stripped paths, methods, routes of their own and quotas that are off', () => {
    expect(change('strip_path: false', 'strip_path: true')).toContainEqual(expect.stringContaining('strip_path must be false'));
    expect(change('        strip_path: false\n', '')).toContainEqual(expect.stringContaining('strip_path must be false'));
    expect(change('strip_path: false', 'strip_path: false\n        methods: [GET]')).toContainEqual(
      expect.stringContaining('names methods'),
    );
    expect(change('strip_path: false', 'strip_path: false\n        plugins: [{ name: access-layer }]')).toContainEqual(
      expect.stringContaining('of its own'),
    );
    expect(change('products: [api-ip]', 'products: [api-ip]\n          quota: false')).toContainEqual(
      expect.stringContaining('quota is off'),
    );
  });

  it('finds the missing alias of the captcha refresh', () => {
    expect(change("          - '~/api/v1/gst/refresh-captcha$'\n", '')).toEqual([
      'product api-gst: no route takes /api/v1/gst/refresh-captcha',
    ]);
  });

  it('finds two services for one path', () => {
    expect(change("'~/seo(?:/.*)?$'", "'~/(?:seo|ip)(?:/.*)?$'")).toContainEqual('product api-ip: /ip is taken by ip and seo');
  });

  it('finds a path for which Kong is not told which of two services it prefers', () => {
    const taken = 'product api-grank: /grank/grid is taken by grank and grank-grid';
    expect(change('        regex_priority: 1\n', '')).toEqual([taken]);
    expect(change("          - '~/grank(?:/.*)?$'\n", "          - '~/grank(?:/.*)?$'\n        regex_priority: 1\n")).toEqual([taken]);
  });

  it('finds a preferred route that takes more than its own, or under the wrong product', () => {
    expect(change("'~/grank/grid/?$'", "'~/gst(?:/.*)?$'")).toContainEqual('product api-gst: /gst admits api-grank instead of api-gst');
    const grid =
      "'~/grank/grid/?$'\n        regex_priority: 1\n        strip_path: false\n    plugins:\n      - name: access-layer\n        config:\n          ";
    expect(change(`${grid}products: [api-grank]`, `${grid}products: [api-ip]`)).toEqual([
      'product api-grank: /grank/grid admits api-ip instead of api-grank',
    ]);
  });

  it('says what is wrong with a file that is not YAML', () => expect(checkKongConfig('a: [', PRODUCTS)[0]).toMatch(/^kong.yml: /));
});
