import { type ApiDocument, type ApiOperation } from '../../contract/api-document';

/** One way to call a product. */
export interface Operation extends ApiOperation {
  /** In capitals. */
  readonly method: string;
  readonly path: string;
}

/** All operations, in the order of the document. */
export function operationsIn(document: ApiDocument): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

/** The one with which a reader who knows nothing yet sees what an answer looks like: a GET with an example of all its query, answered in JSON. */
export function firstToTry(document: ApiDocument): Operation | undefined {
  return operationsIn(document).find(
    ({ method, parameters = [], responses }) =>
      method === 'GET' &&
      parameters.length > 0 &&
      parameters.every(({ example }) => example !== undefined) &&
      responses['200']?.content?.['application/json'] !== undefined,
  );
}
