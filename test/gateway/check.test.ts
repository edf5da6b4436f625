import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckedProduct } from '../../kong/check/check-guard';
import { checkKongYml } from '../../kong/check/check-kong-yml';
import { PRODUCTS } from '../support/catalogue';

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
