import { createCatalogue, type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { operationsIn, readOperations, successOf } from '../../services/dashboard/storefront/operations';
import { type ApiDocumentParts, describeApi } from '../../services/openapi/describe-api';
import { isObject } from '../../services/openapi/document-parts';
import { callOf } from '../../services/openapi/own-call';
import { isJsonType, successStatus } from '../../services/openapi/success-of';
import { normalForm } from '../../services/openapi/own-document/normal-form';
import { PRODUCTS } from '../support/catalogue';
import { checkOpenApi } from '../support/openapi/check-openapi';

const answers = (schema: unknown): object => ({
  responses: { '200': { description: 'Fine', content: { 'application/json': { schema } } } },
});
const problem = { $ref: '#/components/schemas/Problem' };
const answered = (tag: string): object => ({ operationId: `get_${tag.slice('api-'.length)}`, tags: [tag], ...answers(problem) });
/** What the build would write if two services were all. */
const built: ApiDocumentParts & Readonly<Record<string, unknown>> = {
  openapi: '3.1.0',
  info: { title: 'Ours', version: '1', description: 'A key is needed.' },
  'x-conventions': 'The body wins over the query.',
  'x-errors': ['key_missing', 'gateway_error', 'link_not_valid', 'validation_failed'].map((code) => ({ code, isOwn: false })),
  servers: [{ url: 'https://api.example.com' }],
  paths: { '/ip': { get: answered('api-ip') }, '/pincode': { get: answered('api-pincode') } },
  components: {
    schemas: { Problem: { type: 'object', properties: { code: { type: 'string' } } } },
    securitySchemes: {
      apiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      bearer: { type: 'http', scheme: 'bearer' },
      apiKeyQuery: { type: 'apiKey', in: 'query', name: 'api_key' },
    },
  },
};
/** The products whose services `built` describes. */
const OURS = PRODUCTS.filter(({ id }) => id === 'api-ip' || id === 'api-pincode');
const weather: CatalogueProduct = {
  id: 'weather',
  title: 'Weather',
  description: 'Forecasts.',
  prefix: '/weather',
  routes: [{ method: 'ANY', path: '/weather/{city}', purpose: 'Forecast of a city' }],
  base: { daily: 1, monthly: 1 },
  subscribable: true,
  plans: [],
};
const own = {
  openapi: '3.0.3',
  info: { title: 'Weather', version: '1' },
  servers: [{ url: 'http://10.0.0.7' }],
  security: [{ internal: [] }],
  paths: {
    '/{city}': {
      parameters: [{ name: 'city', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: 'get_ip', security: [{ internal: [] }], ...answers(problem) },
    },
    '/weather/all': { delete: { responses: { '204': { description: 'Gone' } } } },
  },
  components: {
    schemas: { Problem: { type: 'object' } },
    securitySchemes: { internal: { type: 'apiKey', in: 'header', name: 'X-Internal' } },
  },
};
/** Documents are described in their normal form. */
const normal = (document: unknown): unknown => (isObject(document) ? normalForm(document) : document);
const describeWith = (products: readonly CatalogueProduct[], documents: Record<string, unknown> = {}) => {
  const read = Object.entries(documents).map(([id, document]) => [id, normal(document)] as const);
  return describeApi(built, createCatalogue(products), new Map(read));
};
const described = (...given: Parameters<typeof describeWith>): any => JSON.parse(JSON.stringify(describeWith(...given).document));

it('names the places of a product’s own in which it takes the key', async () => {
  const { paths, components } = described([...OURS, { ...weather, keyIn: ['x-api-key', 'header:apikey', 'query:shop-key'] }]);
  const schemes = [{ apiKeyHeader: [] }, { 'header.apikey': [] }, { 'query.shop-key': [] }];
  expect(paths['/weather/{city}'].get.security).toEqual(schemes);
  expect(components.securitySchemes).toMatchObject({
    'header.apikey': { type: 'apiKey', in: 'header', name: 'apikey' },
    'query.shop-key': { type: 'apiKey', in: 'query', name: 'shop-key' },
  });
});

it('describes a product of nobody’s service by its routes', async () => {
  const document = described([...PRODUCTS, weather]);
  const { paths, tags } = document;
  expect(Object.keys(paths['/weather/{city}'])).toEqual(['get', 'post']);
  const forecast = { tags: ['weather'], summary: 'Forecast of a city', parameters: [{ name: 'city', in: 'path' }] };
  expect(paths['/weather/{city}'].get).toMatchObject(forecast);
  expect(tags.at(-1)).toEqual({ name: 'weather', description: 'Weather. Forecasts.' });
  await checkOpenApi(document);
});

// test/openapi/own-documents holds the documents of many frameworks against what callers need.
it('merges a product’s own document below its prefix, without its servers and its security, and keeps components of one name apart', () => {
  const document = described([...OURS, weather], { weather: own });
  const { paths, components } = document;
  const { get } = paths['/weather/{city}'];
  expect(get).toMatchObject({ tags: ['weather'], summary: 'get_ip' });
  expect(get.operationId).not.toBe('get_ip');
  expect(get.parameters).toEqual([{ name: 'city', in: 'path', required: true, schema: { type: 'string' } }]);
  expect(Object.keys(paths['/weather/all'])).toEqual(['delete']);
  expect(JSON.stringify(document)).not.toMatch(/10\.0\.0\.7|X-Internal/);
  const { $ref } = get.responses['200'].content['application/json'].schema;
  expect($ref).toBe('#/components/schemas/weather.Problem');
  expect(components.schemas['weather.Problem']).toEqual({ type: 'object' });
  expect(components.schemas.Problem).toEqual(built.components['schemas']?.['Problem']);
});

it('leaves out what is not sold any more', () => {
  const { paths, tags } = described(OURS.filter(({ id }) => id !== 'api-ip'));
  expect(paths['/ip']).toBeUndefined();
  expect(paths['/pincode']).toBeDefined();
  expect(JSON.stringify(tags)).not.toContain('"api-ip"');
});

it('tells the conventions and codes of our services only where one of them is sold', () => {
  const { info, 'x-errors': errors, 'x-conventions': conventions } = described([...OURS, weather]);
  expect(info.description).toBe('A key is needed.\n\nThe body wins over the query.');
  expect(errors.map(({ code }: { code: string }) => code)).toContain('validation_failed');
  expect(conventions).toBeUndefined();
  const alone = described([weather], { weather: own });
  expect(alone.info.description).toBe('A key is needed.');
  expect(alone['x-errors'].map(({ code }: { code: string }) => code)).toEqual(['key_missing', 'gateway_error']);
});

it.each([[undefined], [null], ['text'], [{ paths: [] }], [{ paths: { x: 1, '/y': null, '/z': { get: 1 } } }]])(
  'survives the document %j',
  (document) => {
    expect(() => described([...OURS, weather], { weather: document })).not.toThrow();
  },
);

it('gives operations whose paths differ in signs alone a name each', () => {
  const paths = Object.fromEntries(['/a-b', '/a_b', '/a/b', '/雨', '/雪'].map((path) => [path, { get: answers(problem) }]));
  for (const document of [{ ...own, paths }, undefined]) {
    const routes = Object.keys(paths).map((path) => ({ method: 'GET' as const, path: `/weather${path}`, purpose: 'Rain' }));
    const { paths: all } = described([...OURS, { ...weather, routes }], { weather: document });
    const names = Object.values<any>(all).flatMap((methods) => Object.values<any>(methods).map(({ operationId }) => operationId));
    expect(names.filter((name) => name.startsWith('weather_'))).toHaveLength(5);
    expect(new Set(names).size).toBe(names.length);
  }
});

describe('the success that pages show', () => {
  const json = (schema: object, more: object = {}): object => ({
    description: 'Fine',
    content: { 'application/json': { schema, ...more } },
  });
  const city = { type: 'object', required: ['name'], properties: { name: { type: 'string', example: 'Pune' }, area: { type: 'number' } } };
  const successIn = (responses: object) => {
    const document = described([...OURS, weather], { weather: { ...own, paths: { '/days': { post: { responses } } } } });
    const shown = operationsIn(readOperations(JSON.stringify(document))).find(({ path }) => path === '/weather/days');
    return shown && successOf(shown);
  };

  it.each<[string, object, string]>([
    ['a 201', { '400': { description: 'No' }, '201': json(city) }, '201'],
    ['the lowest of several', { '207': json({}), '202': json(city) }, '202'],
    ['a range', { '4XX': { description: 'No' }, '2XX': json(city) }, '2XX'],
    ['what is said of every status', { default: json(city), '404': { description: 'No' } }, 'default'],
  ])('is %s', (_what, responses, status) => {
    expect(successIn(responses)).toMatchObject({ status, sample: { value: { name: 'Pune' } } });
  });

  it('has the example of the document, else one made from the schema, of any JSON', () => {
    expect(successIn({ '200': json(city, { example: { name: 'Goa' } }) })?.sample).toEqual({ value: { name: 'Goa' }, isMade: false });
    const problems = { description: 'Fine', content: { 'application/hal+json; charset=utf-8': { schema: { type: 'integer' } } } };
    expect(successIn({ '200': problems })?.sample).toEqual({ value: 1, isMade: true });
  });

  it('has none where the response has no JSON, or only failures are described', () => {
    expect(successIn({ '204': { description: 'Gone' } })).toEqual({ status: '204', content: {}, sample: undefined });
    expect(successIn({ '404': { description: 'No' } })).toBeUndefined();
  });
});

describe('a broken part of a product’s own document', () => {
  const gets = (schema: unknown): object => ({ get: answers(schema) });
  const nested = (deep: number): object => (deep === 0 ? { type: 'string' } : { properties: { inner: nested(deep - 1) } });
  const sound = { ...own.paths, '/tree': gets({ $ref: '#/components/schemas/Tree' }) };
  const schemas = {
    Problem: { type: 'object' },
    Tree: {
      type: 'object',
      properties: { $ref: { type: 'string' }, children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
    },
    Broken: { properties: { city: { $ref: '#/components/schemas/Nowhere' } } },
    Above: { properties: { broken: { $ref: '#/components/schemas/Broken' } } },
  };
  const withOperation = (item: unknown): unknown => ({ ...own, paths: { '/bad': item, ...sound }, components: { schemas } });

  it.each<[string, unknown, string]>([
    ['a $ref that leads nowhere', gets({ $ref: '#/components/schemas/Nowhere' }), 'leads nowhere'],
    ['a $ref to a component that is broken', gets({ $ref: '#/components/schemas/Above' }), 'cannot be used'],
    ['a $ref to another file', gets({ $ref: 'file:///etc/passwd' }), 'refers outside'],
    ['a $ref to a network address', gets({ $ref: 'http://10.0.0.7/schema.json' }), 'refers outside'],
    ['a $ref that is no text', gets({ $ref: 7 }), 'not a text'],
    ['a $ref to what every object has', gets({ $ref: '#/components/schemas/constructor' }), 'leads nowhere'],
    ['schemas nested until a stack ends', gets(nested(400)), 'nested more than'],
    ['a path that is a $ref to nowhere', { $ref: '#/paths/~1nowhere' }, 'the path is a $ref'],
  ])('costs no more than itself: %s', async (_, item, reason) => {
    const { leftOut, document: whole } = describeWith([...OURS, weather], { weather: withOperation(item) });
    expect(leftOut).toEqual([
      { product: 'weather', operation: expect.stringMatching(/^(GET )?\/weather\/bad$/), reason: expect.stringContaining(reason) },
    ]);
    const document = JSON.parse(JSON.stringify(whole));
    expect(document['x-left-out']).toEqual([{ product: 'weather', operation: leftOut[0]?.operation }]);
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/ip', '/pincode', '/weather/{city}', '/weather/tree']));
    expect(document.paths['/weather/bad']?.get).toBeUndefined();
    await checkOpenApi(document);
  });

  it('is not told where nothing is broken', () => {
    const { leftOut, document } = describeWith([...OURS, weather], { weather: own });
    expect(leftOut).toEqual([]);
    expect(JSON.parse(JSON.stringify(document))).not.toHaveProperty('x-left-out');
  });
});

describe('a word of OpenAPI', () => {
  const city = { $ref: '#/components/schemas/City' };
  const renamed = { $ref: '#/components/schemas/weather.City' };
  const City = { type: 'object', properties: { name: { type: 'string' } } };
  const withOperation = (operation: object): object => ({
    ...own,
    paths: { '/days': { get: operation } },
    components: { schemas: { City } },
  });
  const daysOf = (operation: object) => {
    const documents = { weather: withOperation(operation) };
    const { leftOut, document: whole } = describeWith([...OURS, weather], documents);
    expect(leftOut).toEqual([]);
    const document = JSON.parse(JSON.stringify(whole));
    const shown: any = operationsIn(readOperations(JSON.stringify(document))).find(({ path }) => path === '/weather/days');
    return { document, written: document.paths['/weather/days'].get, shown };
  };
  const WORDS =
    'value default example examples enum const nullable oneOf allOf anyOf properties required items mapping discriminator schema content $ref'.split(
      ' ',
    );

  it.each(WORDS)('is a name where the author chose it: %s', async (word) => {
    const schema = { type: 'object', properties: { [word]: city }, required: [word] };
    const { document, written, shown } = daysOf({
      parameters: [{ name: word, in: 'query', schema: city, examples: { [word]: { value: 'Pune' } } }],
      responses: { '200': { description: 'Fine', headers: { [word]: { schema: city } }, content: { 'application/json': { schema } } } },
    });
    await checkOpenApi(document);
    const { headers, content } = written.responses['200'];
    expect(Object.entries(content['application/json'].schema.properties)).toEqual([[word, renamed]]);
    expect(Object.entries(headers)).toEqual([[word, { schema: renamed }]]);
    expect(document.components.schemas['weather.City']).toEqual(City);
    expect(Object.entries(shown.responses['200'].content['application/json'].schema.properties)).toEqual([[word, City]]);
    expect(shown.parameters[0]).toMatchObject({ name: word, example: 'Pune' });
  });

  it('is the name of a response', () => {
    const response = { description: 'Fine', content: { 'application/json': { schema: city } } };
    const document = described([...OURS, weather], {
      weather: {
        ...withOperation({ responses: { default: { $ref: '#/components/responses/default' } } }),
        components: { schemas: { City }, responses: { default: response } },
      },
    });
    const shown: any = operationsIn(readOperations(JSON.stringify(document))).find(({ path }) => path === '/weather/days');
    expect(shown.responses.default.content['application/json'].schema).toEqual(City);
  });

  const data = { $ref: '#/nowhere', allOf: [{ $ref: 7 }], nullable: true, type: 'string' };
  const bodies: [string, object][] = [
    ['an example', { example: data }],
    ['a named example', { examples: { one: { value: data } } }],
    ['an example of a schema', { schema: { example: data } }],
    ['examples of a schema', { schema: { examples: [data] } }],
    ['a default', { schema: { default: data } }],
    ['an enum', { schema: { enum: [data] } }],
    ['a constant', { schema: { properties: { a: { const: data } } } }],
    ['an extension', { schema: { 'x-own': data } }],
  ];
  it.each(bodies)('is data inside of %s', (_what, media) => {
    const { written, shown } = daysOf({ responses: { '200': { description: 'Fine', content: { 'application/json': media } } } });
    expect(written.responses['200'].content['application/json']).toEqual(media);
    expect(shown).toBeDefined();
  });

  it('leads to a shape also where a discriminator alone names it', () => {
    const discriminator = { propertyName: 'kind', mapping: { city: '#/components/schemas/City' } };
    const schema = { type: 'object', properties: { kind: { type: 'string' } }, discriminator };
    const { document } = daysOf({ responses: { '200': { description: 'Fine', content: { 'application/json': { schema } } } } });
    expect(document.components.schemas['weather.City']).toEqual(City);
  });
});

it('keeps the order of an author: paths, methods, media types, members and examples', () => {
  const properties = { zebra: { type: 'string' }, ant: { type: 'string' }, bee: { type: 'string' } };
  const media = { schema: { type: 'object', properties }, examples: { second: { value: 2 }, first: { value: 1 } } };
  const get = {
    summary: 'Read',
    responses: { '200': { description: 'Fine', content: { 'text/plain': media, 'application/json': media } } },
  };
  const written = { '/longest/of/all': { post: get, get }, '/b': { get }, '/a': { get } };
  const { paths } = described([weather], { weather: { ...own, paths: written } });
  expect(Object.keys(paths)).toEqual(['/weather/longest/of/all', '/weather/b', '/weather/a']);
  expect(Object.keys(paths['/weather/longest/of/all'])).toEqual(['post', 'get']);
  expect(JSON.stringify(paths['/weather/b'].get.responses['200'])).toBe(JSON.stringify(get.responses['200']));
});

describe('the success of an operation', () => {
  it.each([
    [['404', '204', '201'], '201'],
    [['default', '202'], '202'],
    [['2XX', '400'], '2XX'],
    [['2xx', '206'], '206'],
    [['400', 'default'], 'default'],
    [['400', '301'], undefined],
    [['2000', 'x-200'], undefined],
  ])('of %j is %s', (statuses, success) => {
    expect(successStatus(Object.fromEntries(statuses.map((status) => [status, {}])))).toBe(success);
  });

  it('decides whether a sample reads its answer as JSON', () => {
    const readsText = (responses: object) => callOf({ responses }, { method: 'post', path: '/city' }).answersText;
    const json = { content: { 'application/hal+json; charset=utf-8': {} } };
    expect([readsText({ '201': json }), readsText({ default: json }), readsText({ '204': {}, '206': json })]).toEqual([false, false, true]);
  });

  it.each(['application/json', 'text/json', 'application/vnd.city.v1+json;q=1', 'application/json-patch+json'])('%s is JSON', (type) => {
    expect(isJsonType(type)).toBe(true);
  });

  it.each(['application/x-ndjson', 'application/json-seq', 'text/plain', 'json'])('%s is no JSON', (type) => {
    expect(isJsonType(type)).toBe(false);
  });
});
