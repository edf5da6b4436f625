import { readYaml } from '../../../plugins/core/catalogue/read-yaml';
import { findUnstorable } from '../../kit/find-unstorable';
import { isObject, type Json } from '../document-parts';

/** Descriptions of large public APIs have 1 to 13 MB. The files of one document together may have as much as one file. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** Parses with bounds on depth and aliases. @throws Error that names the line of the problem */
export function readJsonOrYaml(text: string): unknown {
  try {
    // Much faster than YAML, and large documents are JSON.
    return JSON.parse(text);
  } catch {
    const yaml = readYaml(text);
    if (!('problems' in yaml)) return yaml.value;
    const [first] = yaml.problems;
    throw new Error(`it is neither JSON nor YAML: line ${first?.line ?? 1}: ${first?.message ?? 'not readable'}`);
  }
}

/**
 * Parses an OpenAPI 3 document, and checks that the database can keep it.
 * @throws Error with what is wrong, and with what to do if that is known
 */
export function readDocumentText(text: string): Json {
  const document = readJsonOrYaml(text);
  if (!isObject(document)) throw new Error('it is not an OpenAPI 3 document');
  const { openapi, swagger, paths, webhooks } = document;
  if (swagger !== undefined) throw new Error('it is Swagger 2: convert it to OpenAPI 3 first, with swagger2openapi for example');
  if (typeof openapi !== 'string' || !openapi.startsWith('3.')) throw new Error('it is not an OpenAPI 3 document');
  const hasPaths = paths !== undefined && !(isObject(paths) && Object.keys(paths).length === 0);
  if (!hasPaths && isObject(webhooks)) throw new Error('it describes only webhooks: without paths there is nothing to call');
  if (!isObject(paths)) throw new Error('it has no paths');
  // If the database refused one document, no other product's would be stored and the start would fail.
  const problem = findUnstorable(document);
  if (problem !== undefined) throw new Error(problem);
  return document;
}
