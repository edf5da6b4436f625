import { dirname, resolve } from 'node:path';
import { type Pool } from 'pg';
import { type Catalogue } from '../plugins/core/catalogue/catalogue';
import { readProductDocuments, writeProductDocuments } from '../services/selling/catalogue/product-documents';
import { inTransaction } from '../plugins/stores/postgres/database';
import { plainGet } from '../services/kit/plain-get';
import { readTextFile } from '../services/kit/read-text-file';
import { ResponseTooLarge } from '../services/kit/upstream/read-capped';
import { BodyNotUnpacked, unpackWhole } from '../services/kit/upstream/unpack-body';
import { readInThread } from '../services/openapi/own-document/read-in-thread';
import { MAX_DOCUMENT_BYTES } from '../services/openapi/own-document/read-document-text';

/** Milliseconds for the network alone. Reading a document takes its own time. */
const DEADLINE_MS = 10_000;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface ApiDocuments {
  /** Documents by product. */
  readonly documents: ReadonlyMap<string, unknown>;
  /** A sentence for each document that cannot be read or is not an OpenAPI document, with the reason. */
  readonly unusable: readonly string[];
}

/**
 * Reads the OpenAPI documents that products name: http(s) addresses, and files beside the catalogue.
 * @param catalogueFile path of the catalogue
 */
export async function readApiDocuments({ products }: Catalogue, catalogueFile: string): Promise<ApiDocuments> {
  const documents = new Map<string, unknown>();
  const unusable: string[] = [];
  const read = async (id: string, place: string, text: Promise<string>): Promise<void> => {
    try {
      const file = isAddress(place) ? undefined : resolve(dirname(catalogueFile), place);
      documents.set(id, await readInThread({ text: await text, file }));
    } catch (error) {
      unusable.push(`product ${id}: ${place}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  // All are fetched at the same time, and read one by one: each takes a processor and much memory.
  const coming = products.flatMap(({ id, openapi: place }) =>
    place === undefined ? [] : [{ id, place, text: readText(place, dirname(catalogueFile)) }],
  );
  // A failed fetch is reported in its turn; until then its promise must not count as unhandled.
  for (const { text } of coming) text.catch(() => undefined);
  for (const { id, place, text } of coming) await read(id, place, text);
  return { documents, unusable };
}

/**
 * Stores the documents as they are now, at a start. If an API does not respond yet, its present document is kept.
 * @returns sentences for the platform engineer
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

const isAddress = (place: string): boolean => /^https?:/i.test(place);

const tooLarge = (): Error => new Error(`it has more than ${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB`);

async function readText(place: string, folder: string): Promise<string> {
  if (!isAddress(place)) {
    const text = readTextFile(resolve(folder, place), MAX_DOCUMENT_BYTES);
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
    maxBytes: MAX_DOCUMENT_BYTES,
    accept: 'application/json, application/yaml',
  });
  const { location, 'content-encoding': encoding } = headers;
  if (REDIRECTS.has(status) && location !== undefined && redirects > 0)
    return getText(new URL(location, place).href, signal, redirects - 1);
  if (status < 200 || status > 299) throw new Error(`it responds with ${status}`);
  // Some servers store documents compressed and send them so to everybody.
  return (await unpackWhole(body, encoding, MAX_DOCUMENT_BYTES)).toString('utf8');
}
