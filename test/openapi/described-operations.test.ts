import { type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { describeSold } from '../../services/dashboard/storefront/description';
import { ShownApi } from '../../services/dashboard/storefront/shown-api';
import { type Json } from '../../services/openapi/document-parts';
import { ReferenceResolver } from '../../services/openapi/resolve-references';
import { normalForm } from '../../services/openapi/own-document/normal-form';
import { firstOf, inTestAll } from '../support/scenes';
import { kindOf, type ParameterStyle, readValue, writeParameter } from '../../services/openapi/parameter-style';

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

/** The values of OpenAPI's table of styles. */
const VALUES = { empty: '', string: 'blue', list: ['blue', 'black', 'brown'], object: { R: 100, G: 200, B: 150 } };
type Place = ParameterStyle['in'];
type Row = [Place, string, boolean, ...(string | undefined)[]];

/** Section “Style Examples” of OpenAPI 3.1.1, row by row; undefined stands for its “n/a”. Each place has its own styles. */
const TABLE: Row[] = [
  ['path', 'matrix', false, ';color', ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
  ['path', 'matrix', true, ';color', ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
  ['path', 'label', false, '.', '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
  ['path', 'label', true, '.', '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
  ...(['path', 'header'] as const).flatMap((place): Row[] => [
    [place, 'simple', false, '', 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
    [place, 'simple', true, '', 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
  ]),
  ['query', 'form', false, 'color=', 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
  ['query', 'form', true, 'color=', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
  ['query', 'spaceDelimited', false, undefined, undefined, 'color=blue%20black%20brown', 'color=R%20100%20G%20200%20B%20150'],
  ['query', 'pipeDelimited', false, undefined, undefined, 'color=blue%7Cblack%7Cbrown', 'color=R%7C100%7CG%7C200%7CB%7C150'],
  ['query', 'deepObject', true, undefined, undefined, undefined, 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
  ['cookie', 'form', false, 'color=', 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
  // The pairs of OpenAPI 3.2’s style `cookie`, because a server takes `&` between cookies for a part of the first one.
  ['cookie', 'form', true, 'color=', 'color=blue', 'color=blue; color=black; color=brown', 'R=100; G=200; B=150'],
];

const CASES = TABLE.flatMap(([place, style, explode, ...written]) =>
  Object.entries(VALUES).flatMap(([type, value], at) => {
    const expected = written[at];
    return expected === undefined ? [] : [{ place, style, explode, type, value, expected }];
  }),
);

it.each(CASES)('writes $place, $style, explode $explode, $type as OpenAPI does', ({ place, style, explode, value, expected }) => {
  expect(writeParameter({ name: 'color', in: place, style, explode }, value)).toBe(expected);
});

it.each<[Place, string, string, string]>([
  ['path', 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
  ['query', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
  ['header', 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
  ['cookie', 'color=blue', 'color=blue; color=black; color=brown', 'R=100; G=200; B=150'],
])('takes the default style of a %s', (place, ...written) => {
  const values = [VALUES.string, VALUES.list, VALUES.object];
  expect(values.map((value) => writeParameter({ name: 'color', in: place }, value))).toEqual(written);
});

it('explodes what OpenAPI has no rule for like a form', () => {
  const color = { name: 'color', in: 'query' } as const;
  expect(writeParameter({ ...color, style: 'pipeDelimited', explode: true }, VALUES.list)).toBe('color=blue&color=black&color=brown');
  expect(writeParameter({ ...color, style: 'spaceDelimited' }, 'blue')).toBe('color=blue');
  expect(writeParameter({ ...color, style: 'deepObject' }, { a: { b: [1, 2] }, c: null })).toBe(
    'color%5Ba%5D%5Bb%5D=1&color%5Ba%5D%5Bb%5D=2&color%5Bc%5D=null',
  );
});

it('keeps the characters between values out of the values', () => {
  const value = ['a,b', 'c d&e=f;g|h', 'é\ud800'];
  expect(writeParameter({ name: 'x', in: 'query', explode: false }, value)).toBe('x=a%2Cb,c%20d%26e%3Df%3Bg%7Ch,%C3%A9%EF%BF%BD');
  expect(writeParameter({ name: 'x', in: 'path', style: 'matrix', explode: true }, ['a;b/c'])).toBe(';x=a%3Bb%2Fc');
  expect(writeParameter({ name: 'x', in: 'query', allowReserved: true }, 'a/b?c=d&e#f')).toBe('x=a/b?c=d%26e%23f');
});

it('writes a parameter with a media type as JSON, whatever its value', () => {
  const filter = { name: 'filter', in: 'query', isJson: true } as const;
  for (const value of [{ rain: true }, '{"rain":true}']) expect(writeParameter(filter, value)).toBe('filter=%7B%22rain%22%3Atrue%7D');
  expect(writeParameter(filter, 'pune')).toBe('filter=%22pune%22');
});

it.each([
  [{ type: 'array' }, 'list'],
  [{ properties: {} }, 'object'],
  [{ type: ['object', 'null'] }, 'object'],
  [{ anyOf: [{ type: 'array' }, { type: 'null' }] }, 'list'],
  [{ anyOf: [{ type: 'array' }, { type: 'string' }] }, 'any'],
  [{ type: ['string', 'integer'] }, undefined],
  [{}, undefined],
])('says of the schema %j that it takes %s', (schema, kind) => {
  expect(kindOf(schema)).toBe(kind);
});

it.each([
  ['["a",1]', 'list', ['a', 1]],
  ['a, b', 'list', ['a', 'b']],
  ['7', 'list', ['7']],
  ['{"a":1}', 'object', { a: 1 }],
  ['plain', 'any', 'plain'],
  ['["a"]', 'any', ['a']],
  ['["a"]', undefined, '["a"]'],
] as const)('reads %j in the field of a %s', (text, kind, value) => {
  expect(readValue(text, kind)).toEqual(value);
});
