import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { type RequestListener } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type ApiDocuments, readApiDocuments } from '../../cli/api-documents';
import { createCatalogue } from '../../plugins/core/catalogue/catalogue';
import { serve } from '../support/http';
import { PRODUCTS } from '../support/catalogue';
import { newFolder } from '../support/run-folder';
import { ownOperations } from '../../services/openapi/own-operations';

const OWN = { openapi: '3.1.0', paths: { '/a': {} } };

/** What is read of a product whose document lies on a server that answers so. */
async function readFrom(answer: RequestListener, path = '/'): Promise<ApiDocuments & { readonly document: unknown }> {
  const server = await serve(answer);
  const read = await readApiDocuments(createCatalogue([{ ...PRODUCTS[0]!, openapi: server.url + path }]), 'catalogue.yml');
  await server.close();
  return { ...read, document: [...read.documents.values()][0] };
}

/** What is said of a product whose document has this text, beside one of a product that is sound. */
async function readText(text: string): Promise<ApiDocuments> {
  const server = await serve(({ url }, response) => void response.end(url === '/own.yml' ? text : JSON.stringify(OWN)));
  const [broken, sound] = PRODUCTS;
  const sold = [
    { ...broken!, openapi: `${server.url}/own.yml` },
    { ...sound!, openapi: `${server.url}/sound.json` },
  ];
  const read = await readApiDocuments(createCatalogue(sold), 'catalogue.yml');
  await server.close();
  return read;
}

describe('a document that the database cannot keep', () => {
  const withSummary = (summary: string): string => `{"openapi":"3.1.0","paths":{"/a":{"get":{"summary":"${summary}"}}}}`;
  const withExtension = (value: string): string => `{"openapi":"3.1.0","paths":{},"x-deep":${value}}`;

  it.each([
    ['U+0000 in JSON', withSummary('a\\u0000b'), 'it contains the character U+0000, which cannot be stored, at paths./a.get.summary'],
    ['U+0000 in YAML', 'openapi: 3.1.0\npaths: {}\nx-a: ["\\0"]', 'it contains the character U+0000, which cannot be stored, at x-a.0'],
    ['objects as deep as a stack', withExtension('{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)), 'nested more than 1000 levels deep'],
    ['a YAML list of itself', 'openapi: 3.1.0\npaths: {}\nx-a: &a [*a]', ''],
    ['nothing', '', 'it is not an OpenAPI 3 document'],
    ['paths that are a list', '{"openapi":"3.1.0","paths":[]}', 'it has no paths'],
  ])('is named with file and reason, and every other one is read: %s', async (_what, text, reason) => {
    const { documents, unusable } = await readText(text);
    expect(unusable).toEqual([expect.stringMatching(`^product ${PRODUCTS[0]!.id}: http:.*/own\\.yml: `)]);
    expect(unusable[0]).toContain(reason);
    expect([...documents]).toEqual([[PRODUCTS[1]!.id, OWN]]);
  });

  it('is not one with a character outside of the basic plane', async () => {
    expect((await readText(withSummary('\\ud83d\\ude00'))).unusable).toEqual([]);
  });
});

describe('a document on a server', () => {
  it('is read behind redirects, and where it is kept packed', async () => {
    const { document } = await readFrom(({ url = '' }, response) => {
      if (url === '/old') response.writeHead(301, { location: '/new' }).end();
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(OWN)));
    }, '/old');
    expect(document).toEqual(OWN);
  });

  it('is not read for ever, nor larger than may be when it is unpacked', async () => {
    const { unusable: around } = await readFrom((_request, response) => response.writeHead(302, { location: '/' }).end());
    expect(around).toEqual([expect.stringContaining('it responds with 302')]);
    const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024));
    const { unusable: packed } = await readFrom((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    const { unusable: endless } = await readFrom((_request, response) => void response.write(Buffer.alloc(17 * 1024 * 1024, '{')));
    expect([packed, endless]).toEqual(Array(2).fill([expect.stringContaining('it has more than 16 MiB')]));
  });

  it('that is not there is told with the reason', async () => {
    const { unusable } = await readApiDocuments(createCatalogue([{ ...PRODUCTS[0]!, openapi: 'http://localhost:1/' }]), 'catalogue.yml');
    expect(unusable).toEqual([expect.stringContaining('ECONNREFUSED')]);
  });
});

describe('a document in several files', () => {
  let folder: string;
  const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  /** What is described of it, and what is left out with the reason. */
  async function readFolder(): Promise<{
    schemas: Readonly<Record<string, unknown>>;
    leftOut: readonly string[];
    unusable: readonly string[];
  }> {
    const product = { ...PRODUCTS[0]!, openapi: 'api/own.yml' };
    const { documents, unusable } = await readApiDocuments(createCatalogue([product]), join(folder, 'catalogue.yml'));
    const document = documents.get(product.id);
    const { components, leftOut } = ownOperations(product, { document, baseUrl: '', taken: new Set() });
    return { schemas: components['schemas'] ?? {}, leftOut: leftOut.map(({ operation, reason }) => `${operation}: ${reason}`), unusable };
  }
  const withDays = ($ref: string, more = ''): string =>
    `openapi: 3.0.3\npaths:\n  /days: {get: {responses: {200: {description: Fine, content: {application/json: {schema: {$ref: '${$ref}'}}}}}}}\n${more}`;
  const [{ prefix } = { prefix: '' }] = PRODUCTS;

  beforeEach(() => {
    folder = newFolder();
    mkdirSync(join(folder, 'api', 'shapes'), { recursive: true });
    put('api/shapes/day.yml', "Day:\n  type: object\n  properties:\n    rain: {$ref: 'rain.json'}\n    next: {$ref: '#/Day'}\n");
    put('api/shapes/rain.json', '{"type":"number","nullable":true}');
    put('secret.yml', 'type: string\ndefault: the secret\n');
  });

  it('becomes one, with every shape that its files have', async () => {
    put('api/own.yml', withDays('shapes/day.yml#/Day', '  /list: {$ref: paths.yml}\n'));
    put(
      'api/paths.yml',
      "get: {responses: {200: {description: Fine, content: {application/json: {schema: {$ref: './shapes/rain.json'}}}}}}",
    );
    const { schemas, leftOut, unusable } = await readFolder();
    expect([leftOut, unusable]).toEqual([[], []]);
    expect(Object.values(schemas)).toEqual(
      expect.arrayContaining([{ type: ['number', 'null'] }, expect.objectContaining({ type: 'object' })]),
    );
  });

  it('follows no reference out of its folder, or to a file that cannot be read or kept, and leaves out what needs it', async () => {
    put('api/broken.yml', '{: [');
    put('api/odd.json', '{"description":"a\\u0000b"}');
    put('api/deep.json', '{"items":'.repeat(5_000) + '{}' + '}'.repeat(5_000));
    symlinkSync(join(folder, 'secret.yml'), join(folder, 'api', 'link.yml'));
    const outside = ['../secret.yml', '/etc/hostname', 'link.yml', 'http://127.0.0.1:1/secret.yml'];
    const refs = [...outside, 'nowhere.yml', 'shapes', 'broken.yml', 'odd.json', 'deep.json'];
    const responseOf = ($ref?: string): object => ({
      get: { responses: { 200: { description: 'Fine', ...($ref && { content: { 'application/json': { schema: { $ref } } } }) } } },
    });
    const paths = Object.fromEntries(refs.map(($ref, at) => [`/days/${at}`, responseOf($ref)]));
    put('api/own.yml', JSON.stringify({ openapi: '3.0.3', paths: { ...paths, '/sound': responseOf() } }));
    const { schemas, leftOut, unusable } = await readFolder();
    expect(unusable).toEqual([]);
    expect(leftOut).toEqual(refs.map(($ref, at) => `GET ${prefix}/days/${at}: a $ref in it refers outside the document: ${$ref}`));
    expect(JSON.stringify(schemas)).not.toContain('secret');
  });
});
