import { dirname, resolve } from 'node:path';
import { type Catalogue } from '../../plugins/core/selling/catalogue';
import { readYaml } from '../../plugins/core/selling/read-yaml';
import { readTextFile } from '../../services/kit/read-text-file';
import { CommandError } from './command-error';

/** Descriptions of large public APIs have 1 to 5 MB. */
const LARGEST_BYTES = 8 * 1024 * 1024;
const DEADLINE_MS = 10_000;

/**
 * Reads the OpenAPI documents that products name: http(s) addresses, and files beside the catalogue.
 * @param catalogueFile path of the catalogue
 * @throws CommandError `document_unusable` naming each that cannot be read or is no OpenAPI document, with the reason
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

const tooLarge = (): Error => new Error(`it has more than ${LARGEST_BYTES / 1024 / 1024} MiB`);

async function readText(place: string, folder: string): Promise<string> {
  if (!/^https?:/i.test(place)) {
    const text = readTextFile(resolve(folder, place), LARGEST_BYTES);
    if (text === undefined) throw tooLarge();
    return text;
  }
  const response = await fetch(place, {
    signal: AbortSignal.timeout(DEADLINE_MS),
    headers: { accept: 'application/json, application/yaml' },
  });
  if (!response.ok) throw new Error(`it answers ${response.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the connection: no server decides how much is read.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > LARGEST_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
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
