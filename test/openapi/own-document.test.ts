import { createCatalogue, type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { type ApiDocumentParts, describeApi } from '../../services/openapi/describe-api';
import { type Json } from '../../services/openapi/document-parts';
import { normalForm } from '../../services/openapi/own-document/normal-form';
import { readDocumentText } from '../../services/openapi/own-document/read-document-text';
import { operationsIn, readOperations } from '../../services/dashboard/storefront/operations';
import { checkOpenApi } from '../support/openapi/check-openapi';

const built: ApiDocumentParts & Json = {
  openapi: '3.1.0',
  info: { title: 'Ours', version: '1' },
  servers: [{ url: 'https://api.example.com' }],
  paths: {},
  components: {
    schemas: { Problem: { type: 'object' } },
    securitySchemes: { apiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } },
  },
};
const product = (id: string): CatalogueProduct => ({
  ...{ id, title: id, description: 'Rain.', prefix: `/${id}`, routes: [{ method: 'ANY', path: `/${id}`, purpose: 'All' }] },
  ...{ base: { daily: 1, monthly: 1 }, subscribable: true, plans: [], keyIn: ['x-api-key'] },
});

const schemaOf = (schema: unknown, components: object = {}): Json => ({
  openapi: '3.0.3',
  info: { title: 'Rain', version: '1' },
  paths: { '/days': { get: { responses: { '200': { description: 'Fine', content: { 'application/json': { schema } } } } } } },
  ...components,
});

/** The whole description of these documents, which is valid and leaves nothing out. */
async function described(documents: Readonly<Record<string, Json>>): Promise<any> {
  const read = Object.entries(documents).map(([id, document]) => [id, normalForm(document)] as const);
  const { document, leftOut } = describeApi(built, createCatalogue(Object.keys(documents).map(product)), new Map(read));
  expect(leftOut).toEqual([]);
  await checkOpenApi(document);
  return JSON.parse(JSON.stringify(document));
}

const answered = (document: any, path = '/rain/days'): any => document.paths[path].get.responses['200'].content['application/json'].schema;

describe('a schema in words of OpenAPI 3.0', () => {
  const City = { type: 'object', properties: { name: { type: 'string' } } };
  const city = { $ref: '#/components/schemas/City' };
  const renamed = { $ref: '#/components/schemas/rain.City' };
  it.each<[string, object, object]>([
    ['nullable', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    ['not nullable', { type: 'string', nullable: false }, { type: 'string' }],
    ['nullable with values', { type: 'string', enum: ['a'], nullable: true }, { type: ['string', 'null'], enum: ['a', null] }],
    [
      'nullable beside a reference',
      { ...city, nullable: true, description: 'Where' },
      { description: 'Where', anyOf: [renamed, { type: 'null' }] },
    ],
    ['nullable with allOf', { allOf: [city], nullable: true }, { anyOf: [{ allOf: [renamed] }, { type: 'null' }] }],
    ['nullable with oneOf', { oneOf: [city], nullable: true }, { oneOf: [renamed, { type: 'null' }] }],
    ['nullable in words of 3.1 as well', { type: ['string', 'null'], nullable: true }, { type: ['string', 'null'] }],
    ['nullable alone', { nullable: true }, {}],
    ['an open lower bound', { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ['an open upper bound', { maximum: 9, exclusiveMaximum: true }, { exclusiveMaximum: 9 }],
    ['a closed bound', { minimum: 1, exclusiveMinimum: false }, { minimum: 1 }],
    ['an open bound without a bound', { exclusiveMinimum: true }, {}],
    ['a bound of 3.1', { exclusiveMinimum: 3 }, { exclusiveMinimum: 3 }],
    [
      'members with such names',
      { properties: { nullable: { type: 'boolean' }, exclusiveMinimum: city } },
      { properties: { nullable: { type: 'boolean' }, exclusiveMinimum: renamed } },
    ],
    [
      'data with such names',
      { default: { nullable: true, minimum: 1, exclusiveMinimum: true } },
      { default: { nullable: true, minimum: 1, exclusiveMinimum: true } },
    ],
  ])('says the same in those of 3.1, whatever version its document has: %s', async (_what, schema, expected) => {
    for (const openapi of ['3.0.3', '3.1.0']) {
      const document = { ...schemaOf({ type: 'array', items: schema }, { components: { schemas: { City } } }), openapi };
      expect(answered(await described({ rain: document })).items).toEqual(expected);
    }
  });
});

describe('a reference', () => {
  const text = { type: 'string', maxLength: 7 };
  const get = (schema: unknown) => ({ responses: { '200': { description: 'Fine', content: { 'application/json': { schema } } } } });
  const reach = (document: any, schema: any): unknown =>
    '$ref' in schema ? reach(document, document.components.schemas[decodeURIComponent(schema.$ref).split('/').at(-1) ?? '']) : schema;

  it.each<[string, string]>([
    ['percent-encoded', '#/components/schemas/City%20name'],
    ['to a member of a component', '#/components/schemas/City/properties/name'],
    ['to another operation', '#/paths/~1list/get/responses/200/content/application~1json/schema'],
    ['to another operation, percent-encoded', '#/paths/~1list/get/responses/200/content/application%2Fjson/schema'.replace('%2F', '~1')],
    ['through a reference', '#/paths/~1list/get/parameters/0/schema'],
    ['to definitions, as before version 3', '#/definitions/Name'],
  ])('is followed wherever it leads: %s', async (_what, $ref) => {
    const document = {
      ...schemaOf({ $ref }),
      paths: {
        '/days': { get: get({ $ref }) },
        '/list': { get: { ...get(text), parameters: [{ $ref: '#/components/parameters/Name' }] } },
      },
      components: {
        schemas: { 'City name': text, City: { type: 'object', properties: { name: text } } },
        parameters: { Name: { name: 'name', in: 'query', schema: text } },
      },
      definitions: { Name: text },
    };
    const { openapi, components, ...whole } = normalForm(document) as any;
    expect(reach({ components }, whole.paths['/days'].get.responses['200'].content['application/json'].schema)).toEqual(text);
    expect(openapi).toBe('3.0.3');
    const shown = describeApi(built, createCatalogue([product('rain')]), new Map([['rain', { openapi, components, ...whole }]]));
    expect(shown.leftOut).toEqual([]);
  });

  it('of a whole path, of a header, a response and an example is followed too', async () => {
    const response = {
      description: 'Fine',
      headers: { 'X-Left': { schema: text } },
      content: { 'application/json': { examples: { one: { value: 'rain' } } } },
    };
    const document = await described({
      rain: {
        ...schemaOf({}),
        paths: {
          '/a': { get: { responses: { '200': response } } },
          '/b': { $ref: '#/paths/~1a' },
          '/c': { $ref: '#/components/pathItems/C' },
          '/d': {
            get: {
              responses: {
                '200': { $ref: '#/paths/~1a/get/responses/200' },
                '404': {
                  description: 'No',
                  headers: { 'X-Left': { $ref: '#/paths/~1a/get/responses/200/headers/X-Left' } },
                  content: {
                    'application/json': {
                      examples: { one: { $ref: '#/paths/~1a/get/responses/200/content/application~1json/examples/one' } },
                    },
                  },
                },
              },
            },
          },
        },
        components: { pathItems: { C: { get: { responses: { '200': response } } } } },
      },
    });
    expect(Object.keys(document.paths)).toEqual(['/rain/a', '/rain/b', '/rain/c', '/rain/d']);
    expect(document.paths['/rain/c'].get.responses['200']).toEqual(response);
    expect(Object.keys(document.components.headers)).toHaveLength(1);
    expect(Object.values(document.components.examples)).toEqual([{ value: 'rain' }]);
  });

  it('in place of an example leads to a named one, and is data where it leads to none', async () => {
    const components = { examples: { Pune: { value: { city: 'Pune' } } } };
    const withExample = (example: object): Json => schemaOf({ type: 'object', example }, { components });
    expect(answered(await described({ rain: withExample({ $ref: '#/components/examples/Pune' }) })).example).toEqual({ city: 'Pune' });
    const media = { examples: { one: { value: { $ref: '#/components/examples/Pune' } } }, schema: {} };
    const paths = { '/days': { get: { responses: { '200': { description: 'Fine', content: { 'application/json': media } } } } } };
    const written = normalForm({ ...schemaOf({}, { components }), paths }) as any;
    expect(written.paths['/days'].get.responses['200'].content['application/json'].examples.one).toEqual({ value: { city: 'Pune' } });
    const data = { $ref: '#/components/examples/Nowhere' };
    expect((normalForm(withExample(data)) as any).paths['/days'].get.responses['200'].content['application/json'].schema.example).toEqual(
      data,
    );
  });

  it('to itself ends', async () => {
    const tree = '#/paths/~1days/get/responses/200/content/application~1json/schema';
    const document = await described({ rain: schemaOf({ type: 'object', properties: { inner: { $ref: tree } } }) });
    expect(Object.keys(document.components.schemas)).toHaveLength(2);
    expect(() => normalForm({ ...schemaOf({}), paths: { '/a': { $ref: '#/paths/~1b' }, '/b': { $ref: '#/paths/~1a' } } })).not.toThrow();
  });
});

describe('a discriminator', () => {
  const kind = { type: 'object', required: ['kind'], properties: { kind: { type: 'string' } } };
  const heirOf = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'object' }] });
  const mappingIn = async (schemas: object, name = 'Gauge'): Promise<unknown> => {
    const document = await described({ rain: schemaOf({ $ref: `#/components/schemas/${name}` }, { components: { schemas } }) });
    const { mapping } = document.components.schemas[`rain.${name}`].discriminator;
    for (const place of Object.values<string>(mapping)) expect(document.components.schemas).toHaveProperty([place.slice(21)]);
    return mapping;
  };
  const place = (name: string): string => `#/components/schemas/rain.${name}`;

  it('keeps values that are names of schemas: of variants, of heirs, and of heirs of heirs', async () => {
    const Gauge = { ...kind, discriminator: { propertyName: 'kind' } };
    expect(await mappingIn({ Gauge, Rain: heirOf('Gauge'), Wind: heirOf('Gauge'), Gust: heirOf('Wind') })).toEqual({
      Rain: place('Rain'),
      Wind: place('Wind'),
      Gust: place('Gust'),
    });
    const oneOf = ['Rain', 'Wind'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
    const variants = { Gauge: { oneOf, discriminator: { propertyName: 'kind' } }, Rain: kind, Wind: kind };
    expect(await mappingIn(variants)).toEqual({ Rain: place('Rain'), Wind: place('Wind') });
  });

  it('keeps the values that its document gives, by reference or by name, and adds those that it leaves out', async () => {
    const mapping = { rain: 'Rain', wind: '#/components/schemas/Wind' };
    const Gauge = { ...kind, discriminator: { propertyName: 'kind', mapping } };
    expect(await mappingIn({ Gauge, Rain: heirOf('Gauge'), Wind: kind, Snow: heirOf('Gauge') })).toEqual({
      rain: place('Rain'),
      wind: place('Wind'),
      Snow: place('Snow'),
    });
  });

  it('whose heirs take each other in ends', async () => {
    const Gauge = { ...heirOf('Rain'), discriminator: { propertyName: 'kind' } };
    expect(await mappingIn({ Gauge, Rain: heirOf('Gauge') })).toEqual({ Rain: place('Rain'), Gauge: place('Gauge') });
  });
});

describe('a link', () => {
  const linked = (link: object, components: object = {}): Json => ({
    ...schemaOf({}),
    paths: {
      '/days': { get: { operationId: 'getDays', responses: { '200': { description: 'Fine', links: { next: link } } } } },
      '/day': { get: { operationId: 'getDay', responses: { '200': { description: 'Fine' } } } },
    },
    ...components,
  });
  it.each<[string, object, object]>([
    ['by name', { operationId: 'getDay' }, {}],
    ['by place', { operationRef: '#/paths/~1day/get' }, {}],
    ['by reference', { $ref: '#/components/links/Day' }, { components: { links: { Day: { operationId: 'getDay' } } } }],
  ])('leads to the operation of its own document, also where another product has one of its name: %s', async (_what, link, components) => {
    const { paths, components: all } = await described({ sun: linked({ operationId: 'getDay' }), rain: linked(link, components) });
    const next = paths['/rain/days'].get.responses['200'].links.next;
    const { operationId } = next.$ref === undefined ? next : all.links[next.$ref.split('/').at(-1)];
    expect(operationId).toBe(paths['/rain/day'].get.operationId);
    expect(operationId).not.toBe(paths['/sun/day'].get.operationId);
  });

  it('that leads to no operation goes', async () => {
    const { paths } = await described({ rain: linked({ operationId: 'nowhere' }) });
    expect(paths['/rain/days'].get.responses['200'].links).toEqual({});
  });
});

it.each([
  ['Swagger 2', 'swagger: "2.0"\npaths: {}', 'it is Swagger 2: convert it to OpenAPI 3 first'],
  ['webhooks alone', 'openapi: 3.1.0\nwebhooks: {rain: {}}', 'it describes only webhooks'],
  ['no paths', 'openapi: 3.1.0', 'it has no paths'],
  ['another version', 'openapi: 4.0.0\npaths: {}', 'it is not an OpenAPI 3 document'],
])('says in one line what is wrong with a document, and what to do: %s', (_what, text, reason) => {
  expect(() => readDocumentText(text)).toThrow(reason);
});

describe('an operation of odd parts', () => {
  /** The description of an API with this operation, and how its page shows it. */
  function show(operation: object, components: object = {}) {
    const text = JSON.stringify({ openapi: '3.1.0', paths: { '/days': { get: { responses: FINE, ...operation } } }, components });
    const { document, leftOut } = describeApi(
      built,
      createCatalogue([product('rain')]),
      new Map([['rain', normalForm(readDocumentText(text))]]),
    );
    const written: any = JSON.parse(JSON.stringify(document));
    return { written, leftOut, shown: operationsIn(readOperations(JSON.stringify(document)))[0] };
  }

  const FINE = { '200': { description: 'Fine' } };
  const answering = (media: unknown): object => ({ responses: { '200': { description: 'Fine', content: { 'application/json': media } } } });
  const asking = (parameter: unknown): object => ({ parameters: [parameter] });

  it.each<[string, object]>([
    ['a description that is null', { description: null }],
    ['a description that is no text', { description: { en: 'Days' } }],
    ['a summary that is no text', { summary: 5 }],
    ['tags that are no list', { tags: 'days' }],
    ['a response without a description', { responses: { '200': {} } }],
    ['a response that is no object', { responses: { '200': 'Fine' } }],
    ['responses that are a list', { responses: [] }],
    ['content that is no object', { responses: { '200': { description: 'Fine', content: 'json' } } }],
    ['a media type that is no object', answering('json')],
    ['the schema of anything', answering({ schema: true })],
    ['a schema that is no schema', answering({ schema: 'text' })],
    ['properties that are a list', answering({ schema: { type: 'object', properties: [] } })],
    ['a member of any kind', answering({ schema: { type: 'object', properties: { any: true, none: false } } })],
    ['required that is one name', answering({ schema: { type: 'object', required: 'a', properties: { a: {} } } })],
    ['examples that are a list', answering({ examples: [1] })],
    ['a parameter without a name', asking({ in: 'query', schema: {} })],
    ['a parameter in a place of Swagger 2', asking({ in: 'body', name: 'body', schema: { type: 'object' } })],
    ['a parameter that is no object', asking('q')],
    ['a description of a parameter that is no text', asking({ in: 'query', name: 'q', description: 7 })],
    ['an enum that is no list', asking({ in: 'query', name: 'q', schema: { enum: 'a' } })],
    ['a body that is no object', { requestBody: 'text' }],
    ['words of ours that mean something else', { 'x-group': 5, 'x-codeSamples': 'none', 'x-exampleFile': 1 }],
    ['codes of its own', { responses: { '200': { description: 'Fine', 'x-codes': 'none' } } }],
  ])('is shown with what can be shown of it: %s', (_what, operation) => {
    const { leftOut, shown } = show(operation);
    expect(leftOut).toEqual([]);
    expect(shown).toMatchObject({ path: '/rain/days', method: 'GET', tags: ['rain'], responses: expect.anything() });
  });

  it('keeps the parameters beside one that cannot be sent', () => {
    const { shown } = show({ parameters: [{ in: 'query' }, { in: 'query', name: 'q', schema: { type: 'integer' } }] });
    expect(shown?.parameters).toMatchObject([{ name: 'q', schema: { type: 'integer' } }]);
  });

  it.each(['Page<City>', 'a b', '100%', 'Größe', 'a/b', 'a~b', 'a#b', 'a^b'])(
    'writes a reference that is a URL to a schema named %s',
    (name) => {
      const pointer = name.replaceAll('~', '~0').replaceAll('/', '~1');
      const city = { type: 'object', properties: { city: { type: 'string' } } };
      for (const $ref of [`#/components/schemas/${encodeURIComponent(pointer)}`, `#/components/schemas/${pointer}`]) {
        const { written, shown, leftOut } = show(answering({ schema: { $ref } }), { schemas: { [name]: city } });
        expect(leftOut).toEqual([]);
        const reference = written.paths['/rain/days'].get.responses['200'].content['application/json'].schema.$ref;
        expect(reference).toMatch(/^#(?:[\w!$&'()*+,;=:@/?.~-]|%[\dA-F]{2})*$/);
        expect(written.components.schemas[`rain.${name}`]).toEqual(city);
        expect(shown?.responses['200']?.content?.['application/json']?.schema).toEqual(city);
      }
    },
  );

  it('writes the gateway’s refusals once, however many operations have them', () => {
    const { written, shown } = show({ responses: { ...FINE, '401': { description: 'Its own' } } });
    const { responses } = written.paths['/rain/days'].get;
    expect([401, 429, 503].map((status) => responses[status])).toEqual(
      [401, 429, 503].map((status) => ({ $ref: `#/components/responses/Refused${status}` })),
    );
    expect(Object.keys(written.components.responses)).toEqual(['Refused401', 'Refused429', 'Refused503']);
    expect(shown?.responses['401']?.['x-codes']).toContain('key_missing');
  });

  it.each([
    { description: 'Fine', 'x-codes': ['A1', 'B2'] },
    { description: '`A1` Fine', 'x-codes': ['A1', 'B2'] },
    { description: 'Fine', 'x-codes': [] },
  ])('takes no codes from what another author calls x-codes, and publishes it as it is: %j', (response) => {
    const { written, shown } = show({ responses: { '200': response } });
    expect(shown?.responses['200']).toEqual({ description: response.description });
    expect(written.paths['/rain/days'].get.responses['200']).toMatchObject(response);
  });
});
