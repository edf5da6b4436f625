import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Catalogue } from '../../plugins/core/selling/catalogue';
import { readYaml } from '../../plugins/core/selling/read-yaml';
import { CommandError } from './command-error';

/** Descriptions of large public APIs have 1 to 5 MB. */
const LARGEST_BYTES = 8 * 1024 * 1024;
const DEADLINE_MS = 10_000;

/**
 * Reads the OpenAPI documents that products name: http(s) addresses, and files beside the catalogue.
 * @param catalogueFile path of the catalogue
 * @throws CommandError `document_unusable` naming each that cannot be had or is none, with the reason
 */
export async function readApiDocuments({ products }: Catalogue, catalogueFile: string): Promise<Map<string, unknown>> {
  const named = products.flatMap(({ id, openapi }) => (openapi === undefined ? [] : [{ id, openapi }]));
  const read = await Promise.all(
    named.map(async ({ id, openapi }) => {
      try {
        const document = parseDocument(await readText(openapi, dirname(catalogueFile)));
        return { id, document };
      } catch (error) {
        return { id, text: `product ${id}: ${openapi}: ${error instanceof Error ? error.message : String(error)}` };
      }
    }),
  );
  const mistakes = read.flatMap(({ text }) => (text === undefined ? [] : [{ text }]));
  if (mistakes.length > 0)
    throw new CommandError('document_unusable', 'an OpenAPI document cannot be used; nothing was changed', undefined, mistakes);
  return new Map(read.map(({ id, document }) => [id, document]));
}

async function readText(place: string, folder: string): Promise<string> {
  if (!/^https?:/i.test(place)) return cut(await readFile(resolve(folder, place)));
  const response = await fetch(place, {
    signal: AbortSignal.timeout(DEADLINE_MS),
    headers: { accept: 'application/json, application/yaml' },
  });
  if (!response.ok) throw new Error(`it answers ${response.status}`);
  return cut(Buffer.from(await response.arrayBuffer()));
}

function cut(bytes: Buffer): string {
  if (bytes.length > LARGEST_BYTES) throw new Error(`it has more than ${LARGEST_BYTES / 1024 / 1024} MiB`);
  return bytes.toString('utf8');
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
  const { openapi, paths } = (typeof document === 'object' && document !== null ? document : {}) as Readonly<Record<string, unknown>>;
  if (typeof openapi !== 'string' || !openapi.startsWith('3.')) throw new Error('it is no OpenAPI 3 document');
  if (typeof paths !== 'object' || paths === null) throw new Error('it has no paths');
  return document as object;
}
