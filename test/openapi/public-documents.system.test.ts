import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createCatalogue, type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { operationsIn, readOperations } from '../../services/dashboard/storefront/operations';
import { type ApiDocumentParts, describeApi } from '../../services/openapi/describe-api';
import { METHODS } from '../../services/openapi/product-paths';
import { readInThread } from '../../services/openapi/own-document/read-in-thread';
import { CATALOGUE } from '../support/catalogue';
import { buildDocument } from '../support/openapi/build-document';
import { newFolder } from '../support/run-folder';

/**
 * A folder with documents of public APIs, each a file or a folder whose document is named as the folder. They are large and not ours, so that
 * whoever has some tries them.
 */
const SAMPLES = process.env['OPENAPI_SAMPLES'];
const DOCUMENT = /\.(json|ya?ml)$/;

function samples(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return DOCUMENT.test(entry.name) ? [path] : [];
    return readdirSync(path)
      .filter((name) => DOCUMENT.test(name) && name.replace(DOCUMENT, '') === entry.name)
      .map((name) => join(path, name));
  });
}

const own: CatalogueProduct = {
  id: 'own', title: 'Own', description: 'An API.', prefix: '/own', routes: [{ method: 'ANY', path: '/own', purpose: 'All' }],
  base: { daily: 1, monthly: 1 }, subscribable: true, plans: [],
}; // prettier-ignore

const ROOT = resolve(__dirname, '../..');
const node = (...args: readonly string[]): string => execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
const lint = (file: string): string[] => JSON.parse(node(join(__dirname, 'lint-published.mjs'), file)) as string[];
const callsIn = (paths: object): number =>
  Object.values(paths).flatMap((item) => Object.keys(item as object).filter((method) => METHODS.has(method))).length;

const files = SAMPLES === undefined ? [] : samples(SAMPLES);
if (files.length === 0) console.warn('skipped: OPENAPI_SAMPLES names no folder with documents of public APIs');
const whereGiven = files.length === 0 ? describe.skip : describe;

whereGiven('a document of a public API', () => {
  // Jest takes no empty table.
  it.each(files.length === 0 ? ['none'] : files)(
    'is described whole, valid where its source is, and as clients are generated from: %s',
    async (file) => {
      const document = await readInThread({ text: readFileSync(file, 'utf8'), file });
      const built = JSON.parse(JSON.stringify(buildDocument('https://api.example.com', CATALOGUE))) as ApiDocumentParts;
      const { document: whole, leftOut } = describeApi(built, createCatalogue([own]), new Map([[own.id, document]]));
      expect(leftOut).toEqual([]);
      const text = JSON.stringify(whole);
      const described = callsIn(document['paths'] as object);
      expect(callsIn((JSON.parse(text) as { paths: object }).paths)).toBe(described);
      expect(operationsIn(readOperations(text))).toHaveLength(described);
      const folder = newFolder();
      writeFileSync(join(folder, 'whole.json'), text);
      const known = new Set(lint(file));
      expect(lint(join(folder, 'whole.json')).filter((each) => !known.has(each.replaceAll('own.', '').replaceAll('/own/', '/')))).toEqual(
        [],
      );
      node(join(ROOT, 'node_modules/openapi-typescript/bin/cli.js'), join(folder, 'whole.json'), '-o', join(folder, 'types.d.ts'));
    },
  );
});
