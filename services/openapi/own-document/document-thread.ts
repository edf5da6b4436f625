import { parentPort, workerData } from 'node:worker_threads';
import { realpathSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { type Document, type Source } from '@redocly/openapi-core';
import { findUnstorable } from '../../kit/find-unstorable';
import { readTextFile } from '../../kit/read-text-file';
import { eachPart, isObject, type Json, type Kind } from '../document-parts';
import { normalForm } from './normal-form';
import { MAX_DOCUMENT_BYTES, readDocumentText, readJsonOrYaml } from './read-document-text';

/** Input of the thread: a text, and the path of the file from which it was read, if any. */
export interface DocumentInput {
  readonly text: string;
  readonly file: string | undefined;
}

/** Paths to which others refer are copied into each of them. Documents of public APIs are hardly longer in their normal form. */
const MAX_NORMAL_LENGTH = 4 * MAX_DOCUMENT_BYTES;

/** The thread's only message: the document as JSON, or the reason why it cannot be used. */
export type DocumentOutput = { readonly json: string } | { readonly problem: string };

async function read({ text, file }: DocumentInput): Promise<DocumentOutput> {
  try {
    const document = readDocumentText(text);
    const json = JSON.stringify(normalForm(file === undefined ? document : await bundleFolder(document, file)));
    if (json.length > MAX_NORMAL_LENGTH) return { problem: 'what it refers to makes it too long when written out' };
    return { json };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

void read(workerData as DocumentInput).then((output) => parentPort?.postMessage(output));

/** Whether a part or anything in it refers to another file. */
function refersToFiles(part: unknown, kind: Kind): boolean {
  if (!isObject(part)) return false;
  if (typeof part['$ref'] === 'string' && !part['$ref'].startsWith('#')) return true;
  let found = false;
  eachPart(part, kind, (inner, of) => (found ||= refersToFiles(inner, of)));
  return found;
}

/** Reads files of the document's own folder and no other: the document is somebody else's text, and must not reveal files around it. */
function readerOf(file: string): (path: string) => string {
  const folder = realpathSync(dirname(file)) + sep;
  let left = MAX_DOCUMENT_BYTES;
  return (path) => {
    if (!realpathSync(path).startsWith(folder)) throw new Error('it is outside the document’s folder');
    const text = readTextFile(path, left);
    if (text === undefined) throw new Error(`all files of a document together may have ${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB`);
    left -= Buffer.byteLength(text);
    return text;
  };
}

/**
 * The document, with everything that it refers to in other files of its folder as its own components. A reference that cannot be followed
 * stays as it is, and the operations that need it are left out.
 * @param file the path from which the document was read
 */
async function bundleFolder(document: Json, file: string): Promise<Json> {
  if (!refersToFiles(document, 'document')) return document;
  // Loaded on demand, because only documents in several files need it and loading it takes longer than everything else.
  const { BaseResolver, bundle, createConfig, Source } = await import('@redocly/openapi-core');
  const read = readerOf(file);
  class FolderResolver extends BaseResolver {
    override loadExternalRef(path: string): Promise<Source> {
      return Promise.resolve().then(() => new Source(path, read(path)));
    }
    override parseDocument(source: Source): Document {
      const parsed = readJsonOrYaml(source.body);
      const problem = findUnstorable(parsed);
      if (problem !== undefined) throw new Error(problem);
      return { source, parsed };
    }
  }
  const doc = { source: new Source(file, ''), parsed: document };
  const { bundle: whole } = await bundle({ doc, config: await createConfig({}), externalRefResolver: new FolderResolver() });
  return isObject(whole.parsed) ? whole.parsed : document;
}
