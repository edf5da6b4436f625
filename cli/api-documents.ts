import { dirname, resolve } from 'node:path';
import { type Pool } from 'pg';
import { type Catalogue } from '../plugins/core/catalogue/catalogue';
import { readYaml } from '../plugins/core/catalogue/read-yaml';
import { readProductDocuments, writeProductDocuments } from '../services/selling/catalogue/product-documents';
import { inTransaction } from '../plugins/stores/postgres/database';
import { findUnstorable } from '../services/kit/find-unstorable';
import { plainGet } from '../services/kit/plain-get';
import { readTextFile } from '../services/kit/read-text-file';
import { ResponseTooLarge } from '../services/kit/upstream/read-capped';
import { BodyNotUnpacked, unpackWhole } from '../services/kit/upstream/unpack-body';

/** Descriptions of large public APIs have 1 to 5 MB. */
const MAX_BYTES = 8 * 1024 * 1024;
const DEADLINE_MS = 10_000;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface ApiDocuments {
  /** By product. */
  readonly documents: ReadonlyMap<string, unknown>;
  /** A sentence for each that cannot be read or is no OpenAPI document, with the reason. */
  readonly unusable: readonly string[];
}

/**
 * Reads the OpenAPI documents that products name: http(s) addresses, and files beside the catalogue.
 * @param catalogueFile path of the catalogue
 */
export async function readApiDocuments({ products }: Catalogue, catalogueFile: string): Promise<ApiDocuments> {
  const documents = new Map<string, unknown>();
  const unusable: string[] = [];
  const read = async (id: string, place: string): Promise<void> => {
    try {
      documents.set(id, parseDocument(await readText(place, dirname(catalogueFile))));
    } catch (error) {
      unusable.push(`product ${id}: ${place}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  await Promise.all(products.flatMap(({ id, openapi }) => (openapi === undefined ? [] : [read(id, openapi)])));
  return { documents, unusable };
}

/**
 * Takes over the documents as they are now, at a start: an API that does not answer yet keeps the one it had.
 * @returns what an operator should know, a sentence each
 */
export async function updateApiDocuments(db: Pool, catalogue: Catalogue, catalogueFile: string): Promise<readonly string[]> {
  const { documents, unusable } = await readApiDocuments(catalogue, catalogueFile);
  const described = new Set(catalogue.products.filter(({ openapi }) => openapi !== undefined).map(({ id }) => id));
  await inTransaction(db, async (client) => {
    const kept = [...(await readProductDocuments(client))].filter(([id]) => described.has(id));
    await writeProductDocuments(client, new Map([...kept, ...documents]));
  });
  return unusable.map((text) => `${text}; once it can be read: npx tollgate catalogue apply`);
}

const tooLarge = (): Error => new Error(`it has more than ${MAX_BYTES / 1024 / 1024} MiB`);

async function readText(place: string, folder: string): Promise<string> {
  if (!/^https?:/i.test(place)) {
    const text = readTextFile(resolve(folder, place), MAX_BYTES);
    if (text === undefined) throw tooLarge();
    return text;
  }
  return getText(place, AbortSignal.timeout(DEADLINE_MS)).catch((error: unknown) => {
    const isTooLarge = error instanceof ResponseTooLarge || (error instanceof BodyNotUnpacked && error.reason === 'too_large');
    throw isTooLarge ? tooLarge() : error;
  });
}

async function getText(place: string, signal: AbortSignal, redirects = MAX_REDIRECTS): Promise<string> {
  const { status, headers, body } = await plainGet(place, {
    signal,
    maxBytes: MAX_BYTES,
    accept: 'application/json, application/yaml',
  });
  const { location, 'content-encoding': encoding } = headers;
  if (REDIRECTS.has(status) && location !== undefined && redirects > 0)
    return getText(new URL(location, place).href, signal, redirects - 1);
  if (status < 200 || status > 299) throw new Error(`it answers ${status}`);
  // Some servers keep documents packed and send them so to everybody.
  return (await unpackWhole(body, encoding, MAX_BYTES)).toString('utf8');
}

function readJsonOrYaml(text: string): unknown {
  try {
    // Much faster, and large documents are JSON.
    return JSON.parse(text);
  } catch {
    const yaml = readYaml(text);
    if (!('problems' in yaml)) return yaml.value;
    const [first] = yaml.problems;
    throw new Error(`it is neither JSON nor YAML: line ${first?.line ?? 1}: ${first?.message ?? 'not readable'}`);
  }
}

function parseDocument(text: string): object {
  const document = readJsonOrYaml(text);
  if (typeof document !== 'object' || document === null) throw new Error('it is no OpenAPI 3 document');
  const { openapi, paths } = document as Readonly<Record<string, unknown>>;
  if (typeof openapi !== 'string' || !openapi.startsWith('3.')) throw new Error('it is no OpenAPI 3 document');
  if (typeof paths !== 'object' || paths === null || Array.isArray(paths)) throw new Error('it has no paths');
  // One that the database refused would keep every other product's document out, and a start from coming up.
  const problem = findUnstorable(document);
  if (problem !== undefined) throw new Error(problem);
  return document;
}
