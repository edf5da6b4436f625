import { type CatalogueProduct, hasSandbox } from '../../../../plugins/core/selling/catalogue';
import { apiDocument, type ApiDocument, type ApiOperation } from '../../contract/api-document';

/** One way to call a product. */
export interface Operation extends ApiOperation {
  /** In capitals. */
  readonly method: string;
  readonly path: string;
}

/** What the document writes where a value comes from the call before. */
export const FROM_BEFORE = 'from the step before';

export const NOTHING_DESCRIBED: ApiDocument = { servers: [], tags: [], paths: {}, 'x-errors': [], 'x-left-out': [] };

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const shape = apiDocument.shape;

/** Another API's document may name parameters and bodies by reference: those parts are left to the document. */
function withoutReferences(operation: Json): Json {
  const { parameters, requestBody, ...others } = operation;
  const own = Array.isArray(parameters) ? parameters.filter((each) => isObject(each) && isObject(each['schema'])) : [];
  return { ...others, parameters: own, ...(isObject(requestBody) && isObject(requestBody['content']) && { requestBody }) };
}

/** The document as pages show it. An operation that they cannot show is left out and named. */
export function readOperations(text: string): ApiDocument {
  const document: unknown = JSON.parse(text);
  if (!isObject(document)) return NOTHING_DESCRIBED;
  const paths: Record<string, Record<string, ApiOperation>> = {};
  const unshown: ApiDocument['x-left-out'] = [];
  for (const [path, methods] of Object.entries(isObject(document['paths']) ? document['paths'] : {})) {
    for (const [method, operation] of Object.entries(isObject(methods) ? methods : {})) {
      const read = isObject(operation) && shape.paths.safeParse({ [path]: { [method]: withoutReferences(operation) } }).data;
      if (read) paths[path] = { ...paths[path], ...read[path] };
      else if (isObject(operation)) unshown.push({ product: String(operation['tags']), operation: `${method.toUpperCase()} ${path}` });
    }
  }
  const rest = apiDocument.safeParse({ ...document, paths: {} }).data ?? NOTHING_DESCRIBED;
  return { ...rest, paths, 'x-left-out': [...rest['x-left-out'], ...unshown] };
}

/** All operations, in the order of the document. */
export function operationsIn(document: ApiDocument): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

/**
 * The one with which a reader who knows nothing yet sees what an answer looks like: a GET with an example of all its query, answered in
 * JSON by a sandbox.
 */
export function firstToTry({
  document,
  products,
}: {
  document: ApiDocument;
  products: readonly CatalogueProduct[];
}): Operation | undefined {
  const inSandbox = new Set(products.filter(hasSandbox).map(({ id }) => id));
  return operationsIn(document).find(
    ({ method, tags, parameters = [], responses }) =>
      method === 'GET' &&
      inSandbox.has(tags[0]) &&
      parameters.length > 0 &&
      parameters.every(({ example }) => example !== undefined && example !== FROM_BEFORE) &&
      responses['200']?.content?.['application/json'] !== undefined,
  );
}

/** The page of each operation by its id, where links to a single operation lead. */
export function placesOf(document: ApiDocument): Readonly<Record<string, string>> {
  return Object.fromEntries(operationsIn(document).map(({ operationId, tags }) => [operationId, `/reference/${tags[0]}#${operationId}`]));
}
