import { realpathSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { type Document, type Source } from '@redocly/openapi-core';
import { findUnstorable } from '../../kit/find-unstorable';
import { readTextFile } from '../../kit/read-text-file';
import { eachPart, isObject, type Json, type Kind } from '../document-parts';
import { MAX_DOCUMENT_BYTES, readJsonOrYaml } from './read-document-text';

/** Whether a part of it lies in another file. */
function refersToFiles(part: unknown, kind: Kind): boolean {
  if (!isObject(part)) return false;
  if (typeof part['$ref'] === 'string' && !part['$ref'].startsWith('#')) return true;
  let found = false;
  eachPart(part, kind, (inner, of) => (found ||= refersToFiles(inner, of)));
  return found;
}

/** Reads files of the document's own folder, and nothing else: a document is somebody else's text and must not show what lies around it. */
function readerOf(file: string): (path: string) => string {
  const folder = realpathSync(dirname(file)) + sep;
  let left = MAX_DOCUMENT_BYTES;
  return (path) => {
    if (!realpathSync(path).startsWith(folder)) throw new Error('it lies outside of the folder of the document');
    const text = readTextFile(path, left);
    if (text === undefined) throw new Error(`all files of a document together may have ${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB`);
    left -= Buffer.byteLength(text);
    return text;
  };
}

/**
 * The document with what it refers to in other files of its folder as components of its own. A reference that cannot be followed stays as
 * it is, and costs the operations that need it.
 * @param file where the document was read from
 */
export async function bundleFolder(document: Json, file: string): Promise<Json> {
  if (!refersToFiles(document, 'document')) return document;
  // Only documents in several files need it, and loading it takes longer than all else.
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
