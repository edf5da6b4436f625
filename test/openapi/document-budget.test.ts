import { type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { describeSold } from '../../services/dashboard/storefront/description';
import { ShownApi } from '../../services/dashboard/storefront/shown-api';
import { type Json } from '../../services/openapi/document-parts';
import { ReferenceResolver } from '../../services/openapi/resolve-references';
import { normalForm } from '../../services/openapi/own-document/normal-form';
import { firstOf, inTestAll } from '../support/scenes';

const productOf = (id: string): CatalogueProduct => ({
  id, title: id, description: 'An API.', prefix: `/${id}`, routes: [{ method: 'GET', path: `/${id}`, purpose: 'All' }],
  base: { daily: 1, monthly: 1 }, subscribable: true, plans: [],
}); // prettier-ignore
const built = JSON.stringify({ info: { title: 'Ours' }, servers: [{ url: 'https://api.example.com' }], paths: {}, components: {} });

function describeAll(documents: Readonly<Record<string, object>>) {
  const own = Object.entries(documents).map(([id, document]) => [id, JSON.stringify(normalForm(document as Json))] as const);
  const { text, shown, leftOut } = describeSold({
    built,
    title: 'Shop',
    products: Object.keys(documents).map(productOf),
    documents: new Map(own),
  });
  return { text: new TextDecoder().decode(text), shown, leftOut, api: new ShownApi(shown) };
}

const schema = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
const content = (media: object): object => ({ content: { 'application/json': media } });
const fine = (name: string): object => ({ responses: { '200': { description: 'Fine', ...content({ schema: schema(name) }) } } });
const members = (count: number, member: (number: number) => object): object => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: count }, (_, number) => [`member_${number}`, member(number)])),
});
const paths = (count: number, operation: (number: number) => object): object =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`/things/${number}`, { post: operation(number) }]));

const text = 'word '.repeat(200_000);
/** Documents whose operations share what is long: written out in each of them it would be gigabytes. The first two are in `npm test`. */
const SHARING: Readonly<Record<string, object>> = {
  'a wide schema': {
    paths: paths(5, () => fine('Wide')),
    components: { schemas: { Wide: members(2_000, () => ({ type: 'string', description: 'word '.repeat(20) })) } },
  },
  'a long description': {
    paths: paths(100, () => fine('Told')),
    components: { schemas: { Told: { ...members(1, () => ({ type: 'string' })), description: text } } },
  },
  'a long list of values': {
    paths: paths(500, () => fine('Listed')),
    components: { schemas: { Listed: { enum: Array.from({ length: 100_000 }, (_, number) => `value ${number}`) } } },
  },
  'a long example': {
    paths: paths(500, () => ({
      requestBody: { $ref: '#/components/requestBodies/Long' },
      responses: { '200': { description: 'Fine' } },
    })),
    components: { requestBodies: { Long: content({ schema: { type: 'object' }, example: { text } }) } },
  },
  'schemas that lead to each other': {
    paths: paths(20, (number) => fine(`S${number}`)),
    components: {
      schemas: Object.fromEntries(
        Array.from({ length: 150 }, (_, number) => [`S${number}`, members(19, (member) => schema(`S${(number * 7 + member) % 150}`))]),
      ),
    },
  },
};

describe('a document whose operations share', () => {
  it.each(firstOf(Object.entries(SHARING), 2))('%s is described within its budget, with the frame of every operation', (_, document) => {
    const count = Object.keys((document as { paths: object }).paths).length;
    const { text: described, shown, leftOut, api } = describeAll({ long: document });
    expect([leftOut, api.entriesOf('long').length]).toEqual([[], count]);
    const last = api.entriesOf('long').at(-1);
    expect(last && api.read(last)).toMatchObject({ path: `/long/things/${count - 1}`, responses: { '200': { description: 'Fine' } } });
    expect(shown.operations.length).toBeLessThan(64 * 1_024 * 1_024);
    expect(described.length).toBeLessThan(64 * 1_024 * 1_024);
  });

  inTestAll('keeps a budget for all its operations: the last of them have their frames and names', () => {
    const { paths: all, components } = SHARING['a wide schema'] as { paths: Record<string, { post: object }>; components: object };
    const resolver = new ReferenceResolver({ components }, 1_000);
    const sizes = Array.from({ length: 1_000 }, () => JSON.stringify(resolver.resolve(all['/things/0']?.post, 'operation')).length);
    expect(sizes[0]).toBeGreaterThan(100_000);
    expect(sizes.at(-1)).toBeLessThan(1_000);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(64 * 1_024 * 1_024);
  });

  it('costs another product nothing, and names what is not written out', () => {
    const { api } = describeAll({ long: SHARING['a long description'] ?? {}, short: { paths: paths(1, () => fine('One')), components: { schemas: { One: members(1, () => ({ type: 'integer' })) } } } }); // prettier-ignore
    const shapeOf = (product: string): unknown => {
      const [entry] = api.entriesOf(product);
      return entry && api.read(entry).responses['200']?.content?.['application/json']?.schema;
    };
    expect(shapeOf('short')).toEqual({ type: 'object', properties: { member_0: { type: 'integer' } } });
    expect(shapeOf('long')).toEqual({ title: 'long.Told' });
  });
});
