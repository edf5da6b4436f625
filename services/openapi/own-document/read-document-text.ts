import { readYaml } from '../../../plugins/core/catalogue/read-yaml';
import { findUnstorable } from '../../kit/find-unstorable';
import { isObject, type Json } from '../document-parts';

/** Descriptions of large public APIs have 1 to 13 MB. All files of one together may have as much as one file. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** Bounded in depth and aliases. @throws Error that says in which line it is neither */
export function readJsonOrYaml(text: string): unknown {
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

/**
 * An OpenAPI 3 document that the database can keep.
 * @throws Error with what is wrong, and what to do where that is known
 */
export function readDocumentText(text: string): Json {
  const document = readJsonOrYaml(text);
  if (!isObject(document)) throw new Error('it is no OpenAPI 3 document');
  const { openapi, swagger, paths, webhooks } = document;
  if (swagger !== undefined) throw new Error('it is Swagger 2: convert it to OpenAPI 3 first, with swagger2openapi for example');
  if (typeof openapi !== 'string' || !openapi.startsWith('3.')) throw new Error('it is no OpenAPI 3 document');
  const hasPaths = paths !== undefined && !(isObject(paths) && Object.keys(paths).length === 0);
  if (!hasPaths && isObject(webhooks)) throw new Error('it describes webhooks alone: without paths there is nothing to call');
  if (!isObject(paths)) throw new Error('it has no paths');
  // One that the database refused would keep every other product's document out, and a start from coming up.
  const problem = findUnstorable(document);
  if (problem !== undefined) throw new Error(problem);
  return document;
}
