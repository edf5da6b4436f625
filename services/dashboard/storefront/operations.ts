import { type CatalogueProduct, hasSandbox } from '../../../plugins/core/catalogue/catalogue';
import { listErrors } from '../../openapi/error-table';
import { exampleOf, readParameter } from '../../openapi/example-value';
import { ReferenceResolver } from '../../openapi/resolve-references';
import { isObject, type Json } from '../../openapi/document-parts';
import { isJsonType, successStatus } from '../../openapi/success-of';
import { apiDocument, type ApiDocument, type ApiOperation } from '../contract/api-document';

/** One way to call a product. */
export interface Operation extends ApiOperation {
  /** Method in capitals. */
  readonly method: string;
  readonly path: string;
}

/** Stands in the document where a value comes from the previous call. */
export const FROM_BEFORE = 'from the previous step';

/** The codes of every product, and no operations. */
export const NOTHING_DESCRIBED: ApiDocument = {
  servers: [],
  tags: [],
  paths: {},
  'x-errors': [...listErrors()],
  'x-left-out': [],
  'x-groups': {},
};

const shape = apiDocument.shape;

/** Media types that “Run it here” sends. */
const FILLED_IN = new Set(['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data']);

/** An example made from a schema shows three levels. */
const ANSWER_DEPTH = 3;

/** The responses, with an example of a success's JSON. */
function withSample(responses: Json): Json {
  const status = successStatus(responses) ?? '';
  const success = responses[status];
  if (!isObject(success) || !isObject(success['content'])) return responses;
  const content = Object.entries(success['content']).map(([type, media]) => {
    if (!isJsonType(type) || !isObject(media) || !isObject(media['schema'])) return [type, media];
    const { value, isMade } = exampleOf(media, 'text', ANSWER_DEPTH);
    return [type, { ...media, example: value, isMade }];
  });
  return { ...responses, [status]: { ...success, content: Object.fromEntries(content) as Json } };
}

/** The successful response of an operation. */
export interface Success {
  readonly status: string;
  readonly content: NonNullable<ApiOperation['responses'][string]['content']>;
  /** Its JSON, with the document's description. Undefined if there is none. */
  readonly sample: { readonly value: unknown; readonly isMade: boolean; readonly description?: string | undefined } | undefined;
}

/** The success of an operation that `readOperations` has read. */
export function successOf({ responses }: Pick<ApiOperation, 'responses'>): Success | undefined {
  const status = successStatus(responses);
  if (status === undefined) return undefined;
  const content = responses[status]?.content ?? {};
  const { example, examples = {}, isMade = false } = Object.entries(content).find(([type]) => isJsonType(type))?.[1] ?? {};
  const [named] = Object.values(examples);
  const value = example ?? named?.value;
  return { status, content, sample: value === undefined ? undefined : { value, isMade, description: named?.description } };
}

/** Adds an example to each required parameter and to the body. If the API gives none, it is made from the schema. */
function withExamples(operation: Json): Json {
  const { parameters, requestBody, responses } = operation;
  const content = isObject(requestBody) && isObject(requestBody['content']) ? requestBody['content'] : {};
  const bodies = Object.entries(content).map(([type, media]) => {
    if (!FILLED_IN.has(type) || !isObject(media)) return [type, media];
    const { value, isMade } = exampleOf(media, 'text');
    return [type, { ...media, example: value, isMade }];
  });
  return {
    ...operation,
    ...(Array.isArray(parameters) && { parameters: parameters.filter(isObject).map(parameterWithExample) }),
    ...(isObject(requestBody) && { requestBody: { ...requestBody, content: Object.fromEntries(bodies) as Json } }),
    ...(isObject(responses) && { responses: withSample(responses) }),
  };
}

function parameterWithExample(part: Json): Json {
  const parameter = readParameter(part);
  const example = exampleOf(parameter, String(parameter['name']));
  const isNeeded = parameter['required'] === true || parameter['in'] === 'path';
  return { ...parameter, example: isNeeded || !example.isMade ? example.value : undefined, isMade: isNeeded && example.isMade };
}

/** Each product has one budget for all of its operations. */
function resolversByProduct(document: Json): (product: string) => ReferenceResolver {
  const counts = new Map<string, number>();
  const paths = Object.values(isObject(document['paths']) ? document['paths'] : {}).filter(isObject);
  for (const operation of paths.flatMap((methods) => Object.values(methods).filter(isObject))) {
    const product = String(operation['tags']);
    counts.set(product, (counts.get(product) ?? 0) + 1);
  }
  const resolvers = new Map([...counts].map(([product, count]) => [product, new ReferenceResolver(document, count)]));
  return (product) => resolvers.get(product) ?? new ReferenceResolver(document, 1);
}

/** The document as pages show it, with references written out. Operations that cannot be shown are left out and named. */
export function readOperations(text: string): ApiDocument {
  const document: unknown = JSON.parse(text);
  if (!isObject(document)) return NOTHING_DESCRIBED;
  const resolverOf = resolversByProduct(document);
  const paths: Record<string, Record<string, ApiOperation>> = {};
  const unshown: ApiDocument['x-left-out'] = [];
  for (const [path, methods] of Object.entries(isObject(document['paths']) ? document['paths'] : {})) {
    for (const [method, operation] of Object.entries(isObject(methods) ? methods : {})) {
      if (!isObject(operation)) continue;
      const whole = resolverOf(String(operation['tags'])).resolve(operation, 'operation');
      const read = isObject(whole) && shape.paths.safeParse({ [path]: { [method]: withExamples(whole) } }).data;
      if (read) paths[path] = { ...paths[path], ...read[path] };
      else unshown.push({ product: String(operation['tags']), operation: `${method.toUpperCase()} ${path}` });
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
 * The operation that shows a newcomer what a response looks like: a GET with an example of its whole query, whose sandbox responds in JSON.
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
    ({ method, tags, parameters = [], ...operation }) =>
      method === 'GET' &&
      inSandbox.has(tags[0]) &&
      parameters.length > 0 &&
      parameters.every(({ example }) => example !== undefined && example !== FROM_BEFORE) &&
      successOf(operation)?.sample !== undefined,
  );
}
