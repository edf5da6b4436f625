import { createCatalogue, type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { type ApiDocumentParts, describeApi } from '../../services/openapi/describe-api';
import { normalForm } from '../../services/openapi/own-document/normal-form';
import { readDocumentText } from '../../services/openapi/own-document/read-document-text';
import { operationsIn, readOperations } from '../../services/dashboard/storefront/operations';

const built: ApiDocumentParts = {
  info: { title: 'Ours' },
  servers: [{ url: 'https://api.example.com' }],
  paths: {},
  components: { schemas: { Problem: { type: 'object' } } },
};
const rain: CatalogueProduct = {
  ...{ id: 'rain', title: 'Rain', description: 'Rain.', prefix: '/rain', routes: [] },
  ...{ base: { daily: 1, monthly: 1 }, subscribable: true, plans: [] },
};

/** The description of an API with this operation, and how its page shows it. */
function show(operation: object, components: object = {}) {
  const text = JSON.stringify({ openapi: '3.1.0', paths: { '/days': { get: { responses: FINE, ...operation } } }, components });
  const { document, leftOut } = describeApi(built, createCatalogue([rain]), new Map([['rain', normalForm(readDocumentText(text))]]));
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
])('an operation is shown with what can be shown of it: %s', (_what, operation) => {
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

it.each([undefined, {}])('is refused with one line where it describes webhooks alone: paths %j', (paths) => {
  const text = JSON.stringify({ openapi: '3.1.0', paths, webhooks: { rain: { post: {} } } });
  expect(() => readDocumentText(text)).toThrow('it describes only webhooks: without paths there is nothing to call');
});
