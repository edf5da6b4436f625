import { type CatalogueProduct, createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { describeApi } from '../../../services/openapi/describe-api';
import { type Json } from '../../../services/openapi/document-parts';
import { normalForm } from '../../../services/openapi/own-document/normal-form';
import { type ReferencePart } from '../../../services/dashboard/storefront/operation-groups';
import { readOperations } from '../../../services/dashboard/storefront/operations';
import { HOSTILE } from '../../openapi/documents/frameworks';
import { writeOperation, writeReference } from '../../../services/dashboard/storefront/reference-markdown';
import { renderReference } from '../../../services/dashboard/storefront/render-page';
import { packApi, ShownApi } from '../../../services/dashboard/storefront/shown-api';
import { PLAIN_BRAND } from '../../../services/dashboard/brand/brand';
import { type PageTools } from '../../../services/dashboard/storefront/page-frame';

const product: CatalogueProduct = {
  id: 'zoo', title: 'Zoo', description: 'Animals of a zoo.', prefix: '/zoo', routes: [{ method: 'ANY', path: '/zoo', purpose: 'All' }],
  base: { daily: 1, monthly: 1 }, subscribable: true, plans: [],
}; // prettier-ignore
const json = (schema: object): object => ({ 'application/json': { schema } });
const fine = (schema: object = { type: 'object' }): object => ({ '200': { description: 'Fine', content: json(schema) } });

const OWN = {
  openapi: '3.1.0',
  info: { title: 'Zoo', version: '1' },
  tags: [{ name: 'Visitors' }, { name: 'Animals', description: 'Who **lives** here.' }, { name: 'Unused' }],
  paths: {
    '/zebras': { get: { operationId: 'listZebras', tags: ['Animals'], responses: fine() } },
    '/health': { get: { summary: 'Is it open?', responses: fine() } },
    '/animals/{animal_id}': {
      put: {
        summary: 'Feed an animal',
        description: 'Twice a day.',
        tags: ['Animals', 'Visitors'],
        deprecated: true,
        parameters: [{ name: 'animal_id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
        requestBody: {
          content: json({
            type: 'object',
            required: ['food'],
            properties: {
              food: { type: 'string', enum: ['hay', 'meat'], default: 'hay' },
              kilograms: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 2_000, multipleOf: 0.5 },
              at: { type: 'string', format: 'date-time', readOnly: true },
              keepers: { type: 'array', uniqueItems: true, maxItems: 3, items: { type: 'string' } },
              odd: { type: 'integer', minimum: 'none', deprecated: 'yes' },
            },
          }),
        },
        responses: { default: { description: 'Else' }, '204': { description: 'Gone' }, '201': { description: 'Fed', content: json({ type: 'object', properties: { fed: { type: 'boolean' } } }) } },
      },
    },
    '/tickets': { post: { description: 'Sell a ticket.\nAt the gate.', tags: ['Visitors'], responses: fine() } },
    '/antelopes': { get: { summary: 'Antelopes', tags: ['New'], responses: fine() } },
  },
}; // prettier-ignore

const BUILT = { info: { title: 'Ours' }, servers: [{ url: 'https://api.example.com' }], paths: {}, components: {} };
const tools: PageTools = {
  brand: PLAIN_BRAND, pages: { docs: [], changelog: undefined }, url: 'https://shop.example.com', gatewayUrl: 'https://api.example.com',
  isSignedIn: false, canTry: false, canMail: true, liveSources: undefined,
}; // prettier-ignore

function readOwn(document: object) {
  const described = describeApi(BUILT, createCatalogue([product]), new Map([[product.id, normalForm(document as Json)]])).document;
  return new ShownApi(packApi(readOperations(JSON.stringify(described)), [product]));
}
/** Shows parts of what is described once. */
const partsOf =
  (document: object, api = readOwn(document)) =>
  async (part?: ReferencePart): Promise<string> =>
    (await renderReference({ product, part }, tools, { products: [product], api })) ?? '';
const pageOf = (document: object): Promise<string> => partsOf(document)();

/** What the page says, in its order. */
const headings = (page: string): string[] =>
  [...page.matchAll(/<(h[23])(?: id="[^"]*")?>(.*?)<\/\1>/g)].map(([, tag, text]) => `${tag} ${text}`);

describe('the reference of somebody’s own API', () => {
  let ownPage: string;
  beforeAll(async () => (ownPage = await pageOf(OWN)));

  it('has the operations in the order of their author: without a tag first, then by tag', () => {
    expect(headings(ownPage)).toEqual([
      'h2 Is it open?',
      'h2 Visitors',
      'h3 Sell a ticket.',
      'h2 Animals',
      'h3 listZebras',
      'h3 Feed an animal',
      'h2 New',
      'h3 Antelopes',
      'h2 Errors of every route',
    ]);
  });

  it('says of an operation its summary, its path below it, that it is deprecated, and its words', () => {
    expect(ownPage).toContain(
      '<h3>Feed an animal</h3><p class="route"><span class="method">PUT</span> <code>/zoo/animals/{animal_id}</code><span class="badge bad">Deprecated</span></p>',
    );
    for (const text of ['<p>Twice a day.</p>', '<p>Who <strong>lives</strong> here.</p>']) expect(ownPage).toContain(text);
  });

  it('says of a field its format, default, values and bounds, and lets no odd bound hide an operation', () => {
    for (const [name, words] of [
      ['animal_id', '<i>string (uuid)</i>'],
      ['food', '<i>"hay", "meat"</i> Default "hay".'],
      ['kilograms', '<i>number</i> More than 0; at most 2,000; a multiple of 0.5.'],
      ['at', '<i>string (date-time)</i> Only in responses.'],
      ['keepers', '<i>list of string</i> At most 3 entries; no entry twice.'],
      ['odd', '<i>integer</i></td>'],
    ] as const) {
      expect(ownPage.split(`<th>${name}<`)[1]?.split('</tr>')[0]).toContain(words);
    }
  });

  it('shows the fields and an example of the lowest success, whatever its status', () => {
    expect(ownPage).toContain('Form of a 201 response, made from its schema');
    expect(ownPage).toMatch(/"fed": true/);
    expect(ownPage).toContain('<th>fed</th>');
  });
});

describe('the same as Markdown', () => {
  const markdownOf = (document: object): string => writeReference(product, readOwn(document), tools);

  it('has every operation in the same order, with its path, fields, call, success and codes', () => {
    const text = markdownOf(OWN);
    expect(text.match(/^##+ .*$/gm)).toEqual([
      '## Is it open?',
      '## Visitors',
      '### Sell a ticket.',
      '## Animals',
      '### listZebras',
      '### Feed an animal',
      '## New',
      '### Antelopes',
    ]);
    const [, feed = ''] = text.split('### Feed an animal');
    for (const part of [
      '\n\n`PUT /zoo/animals/{animal_id}` (deprecated)\n\nTwice a day.\n\n**Path**\n\n- `animal_id`: string (uuid), required.\n',
      '- `kilograms`: number. More than 0; at most 2,000; a multiple of 0.5.\n',
      '```sh\ncurl -sS -X PUT "https://api.example.com/zoo/animals/',
      'Form of a 201 response, made from its schema\n\n```json\n{\n  "fed": true\n}\n```\n',
      '- 201: Fed\n- 204: Gone\n',
    ])
      expect(feed).toContain(part);
    expect(feed).toMatch(/^- 401: `key_missing` API key missing;/m);
  });

  it('lets no text of an author end a block or a line', () => {
    const value = '```\n# Not a heading\n```';
    const get = { summary: 'One\n# two', parameters: [{ name: 'q', in: 'query', description: 'a\n# b', schema: { type: 'string' } }], responses: { '200': { description: 'x\n# y', content: { 'text/json': { schema: {}, example: { value } } } } } }; // prettier-ignore
    const form = { content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', required: ['note'], properties: { note: { type: 'string', example: value } } } } } }; // prettier-ignore
    const text = markdownOf({ paths: { '/a': { get }, '/b': { post: { summary: 'B', requestBody: form, responses: fine() } } } });
    expect(text.match(/^#.*$/gm)).toEqual(['# Zoo', '## One', '## B', '# Not a heading']);
    expect(text).toContain('````sh\ncurl -sS "https://api.example.com/zoo/b"');
  });
});

describe('shapes that a discriminator tells apart', () => {
  const named = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
  const of = (kind: string, member: string) => ({
    type: 'object',
    required: ['kind'],
    properties: { kind: { type: 'string', enum: [kind] }, [member]: { type: 'integer' } },
  });
  const pet = { type: 'object', required: ['kind'], properties: { kind: { type: 'string' }, name: { type: 'string' } } };
  const child = (member: string): object => ({ allOf: [named('Pet'), { type: 'object', properties: { [member]: { type: 'integer' } } }] });
  const one = { oneOf: [named('Cat'), named('Dog')], discriminator: { propertyName: 'kind' } };
  const listed = { Cat: of('Cat', 'lives'), Dog: of('Dog', 'tricks') };
  const inherited = { Cat: child('lives'), Dog: child('tricks') };
  const withMapping = (mapping?: object) => ({ ...pet, discriminator: { propertyName: 'kind', ...(mapping && { mapping }) } });
  const documentOf = (schema: object, schemas: object) => ({
    paths: { '/pets': { post: { requestBody: { content: json(schema) }, responses: fine({ type: 'array', items: schema }) } } },
    components: { schemas },
  });
  /** Captions of tables and the fields below each. */
  const tablesOf = (page: string) =>
    Object.fromEntries(
      [...page.matchAll(/<caption>(.*?)<\/caption>(.*?)<\/table>/g)].map(([, caption = '', rows = '']) => [
        caption,
        [...rows.matchAll(/<th>(.*?)(?:<|$)/g)].map(([, name]) => name),
      ]),
    );

  it.each<[string, object, object, [string, string]]>([
    ['by the names of schemas', one, listed, ['Cat', 'Dog']],
    ['by a mapping of references', { ...one, discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' } } }, listed, ['cat', 'dog']],
    ['by a mapping of bare names', { ...one, discriminator: { propertyName: 'kind', mapping: { cat: 'Cat', dog: 'Dog' } } }, listed, ['cat', 'dog']],
  ])('are tabs, told apart %s', async (_, schema, schemas, [first, second]) => {
    const document = documentOf(schema, schemas);
    expect(tablesOf(await pageOf(document))).toEqual({
      [`Body, as application/json: ${first}`]: ['kind', 'lives'],
      [`Body, as application/json: ${second}`]: ['kind', 'tricks'],
      [`Response: ${first}`]: ['[].kind', '[].lives'],
      [`Response: ${second}`]: ['[].kind', '[].tricks'],
    });
    expect(writeReference(product, readOwn(document), tools)).toContain(`**Response: ${second}**\n\n- \`[].kind\`: "Dog".`);
  }); // prettier-ignore

  it('are tabs where they are in the mapping alone and have the rest in common, but not on one of themselves', async () => {
    const schemas = { ...inherited, Pet: withMapping({ cat: '#/components/schemas/Cat', dog: 'Dog' }) };
    expect(tablesOf(await pageOf(documentOf(named('Pet'), schemas)))).toMatchObject({
      'Body, as application/json': ['kind', 'name'],
      'Body, as application/json: cat': ['lives'],
      'Body, as application/json: dog': ['tricks'],
    });
    expect(tablesOf(await pageOf(documentOf(named('Cat'), schemas)))['Body, as application/json']).toEqual(['kind', 'name', 'lives']);
  });

  it('keep their values in the OpenAPI document, where the schemas have other names', () => {
    const { document } = describeApi(BUILT, createCatalogue([product]), new Map([[product.id, normalForm(documentOf(one, listed))]]));
    expect(JSON.stringify(document)).toContain('"mapping":{"Cat":"#/components/schemas/zoo.Cat","Dog":"#/components/schemas/zoo.Dog"}');
  });
});

describe('a long description', () => {
  const many = (count: number, tags: number, within = ''): object => ({
    tags: Array.from({ length: tags }, (_, tag) => ({ name: `Tag ${tag}` })),
    paths: Object.fromEntries(
      Array.from({ length: count }, (_, number) => [
        `/things${within}/${number}/parts/{part_id}`,
        { get: { operationId: `readThing${number}`, summary: `Read the part of thing ${number}`, ...(tags > 0 && { tags: [`Tag ${number % tags}`] }), responses: fine() } },
      ]),
    ),
  }); // prettier-ignore
  const KIB = 1_024;
  /** Paths of which a list takes about 90. */
  const LONG = `/${'long'.repeat(100)}`;

  it('is a list under its tags with a search, of which each operation has a page', async () => {
    const show = partsOf(many(90, 3));
    const page = await show();
    expect(page.length).toBeLessThanOrEqual(80 * KIB);
    expect(headings(page)).toEqual(['h2 Tag 0', 'h2 Tag 1', 'h2 Tag 2']);
    expect(page).toContain('<li id="readThing7"><a href="/reference/zoo/readThing7">Read the part of thing 7</a>');
    expect(page).toContain('<search class="find" hidden="">');
    const one = await show({ operation: 'readThing7' });
    expect(headings(one)).toEqual(['h2 Tag 1', 'h3 Read the part of thing 7']);
  });

  it('is a list of tags where there are more operations than a list may have, each with a page', async () => {
    const show = partsOf(many(120, 20, LONG));
    const [page, tag] = [await show(), await show({ tag: 'Tag 7' })];
    for (const text of [page, tag]) expect(text.length).toBeLessThanOrEqual(80 * KIB);
    expect(page).toContain('<a href="/reference/zoo?tag=Tag%207">Tag 7</a><span class="quiet block">6 routes</span>');
    expect(tag).toContain(`/zoo/things${LONG}/27/parts/{part_id}`);
    expect(tag).not.toContain(`/zoo/things${LONG}/28/`);
  });

  it('goes over several pages where one tag, or none, has more operations than a page can list', async () => {
    for (const [tags, tag] of [
      [1, 'Tag 0'],
      [0, ''],
    ] as const) {
      const show = partsOf(many(120, tags, LONG));
      const found = new Set<string>();
      let next: ReferencePart | undefined;
      for (let number = 1; number === 1 || next; number += 1) {
        const page = await show(next);
        expect(page.length).toBeLessThanOrEqual(80 * KIB);
        for (const [, id = ''] of page.matchAll(/<li id="([^"]*)">/g)) found.add(id);
        const hasNext = page.includes(`<a href="/reference/zoo?page=${number + 1}" rel="next">`);
        next = hasNext ? { page: number + 1 } : undefined;
      }
      expect(found.size).toBe(120);
      expect(await show({ tag, page: 2 })).toContain('<a href="/reference/zoo?tag=' + tag.replace(' ', '+') + '&amp;page=1" rel="prev">');
      for (const page of [0, 99]) expect(await show({ page })).toBe('');
    }
  });

  it('is Markdown with a link to a file of each operation', async () => {
    const api = readOwn(many(90, 3));
    const text = writeReference(product, api, tools);
    expect(text).toContain(
      '- [GET /zoo/things/7/parts/{part_id}](https://shop.example.com/reference/zoo/readThing7.md): Read the part of thing 7\n',
    );
    expect(text.match(/^- \[GET /gm)).toHaveLength(90);
    const [operation] = api.entriesOf(product.id);
    const one = operation && writeOperation(product, api.read(operation), tools);
    expect(one).toMatch(/^# Zoo\n[^]*\n## Read the part of thing 0\n\n`GET \/zoo\/things\/0\/parts\/{part_id}`\n/);
  });

  const wide = Object.fromEntries(
    Array.from({ length: 600 }, (_, number) => [
      `member_${number}`,
      { type: 'string', description: 'word '.repeat(300), example: 'x'.repeat(100) },
    ]),
  );
  const WIDE = {
    paths: { '/wide': { post: { requestBody: { content: json({ type: 'object', properties: wide }) }, responses: fine({ type: 'object', properties: wide }) } } },
  }; // prettier-ignore

  const kinds = Array.from({ length: 60 }, (_, number) => `Kind${number}`);
  const VARIANTS = {
    paths: {
      '/kinds': {
        post: {
          description: '|'.repeat(50_000),
          parameters: Array.from({ length: 200 }, (_, number) => ({ name: `p${number}`, in: 'query', schema: { type: 'string', enum: ['x'.repeat(3_000)] } })),
          requestBody: { content: json({ oneOf: kinds.map((name) => ({ $ref: `#/components/schemas/${name}` })), discriminator: { propertyName: 'kind' } }) },
          responses: fine(),
        },
      },
    },
    components: { schemas: Object.fromEntries(kinds.map((name) => [name, { type: 'object', properties: Object.fromEntries(Object.entries(wide).slice(0, 60)) }])) },
  }; // prettier-ignore

  it.each(Object.entries({ ...HOSTILE, wide: WIDE, variants: VARIANTS }))(
    'has at most 200 KiB for one operation: %s',
    async (_, document) => {
      const api = readOwn(document);
      const [operation] = api.entriesOf(product.id);
      const page = await partsOf(document, api)({ operation: operation?.operationId });
      expect(page).toContain('class="operation"');
      expect(page.length).toBeLessThanOrEqual(200 * KIB);
    },
  );
});
