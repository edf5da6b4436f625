import { ownNamesOf, type KeyPlace } from '../../plugins/core/key-places';
import { type CatalogueProduct, type CatalogueRoute } from '../../plugins/core/catalogue/catalogue';
import { DENIALS_WITHOUT_LINKS, failureOf, type DocumentedFailure, GATEWAY_FAILURES } from './error-table';
import { callOf } from './own-call';
import { headersOf } from './response-headers';
import { asCodeSamples, writeCall } from './snippets';
import { type Json } from './document-parts';

/** Methods that the reference describes. */
export const METHODS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'patch', 'head', 'options']);

/** The places of a key for which OpenAPI has a word. See the docs on keys. */
const SCHEMES: readonly (readonly [KeyPlace, string])[] = [
  ['x-api-key', 'apiKeyHeader'],
  ['authorization', 'bearer'],
  ['query', 'apiKeyQuery'],
];

/** The scheme's name for a place with a name of the product's own. */
const ownScheme = (place: string): string => place.replace(':', '.');

/** The key, in any one of the places that the product accepts. */
export function securityOf({ keyIn }: CatalogueProduct): Record<string, string[]>[] {
  const usual = SCHEMES.filter(([place]) => keyIn === undefined || keyIn.includes(place)).map(([, scheme]) => scheme);
  return [...usual, ...(keyIn ?? []).filter((place) => place.includes(':')).map(ownScheme)].map((scheme) => ({ [scheme]: [] }));
}

/** The schemes for key places with names of the products' own. */
export function ownSchemes(products: readonly CatalogueProduct[]): Json {
  const { headers, parameters } = ownNamesOf(products.flatMap(({ keyIn = [] }) => keyIn));
  const of = (kind: 'header' | 'query', name: string) => [ownScheme(`${kind}:${name}`), { type: 'apiKey', in: kind, name }] as const;
  return Object.fromEntries([...headers.map((name) => of('header', name)), ...parameters.map((name) => of('query', name))]);
}

/** Statuses that clients must expect of every API here. */
const EXPECTED = [401, 429, 503];

/** The gateway's own refusals, once for all operations that may get them. */
export const GATEWAY_RESPONSES: Json = Object.fromEntries(EXPECTED.map((status) => [`Refused${status}`, refusalOf(status)]));
const GATEWAY_ANSWERS = Object.fromEntries(EXPECTED.map((status) => [String(status), { $ref: `#/components/responses/Refused${status}` }]));

function refusalOf(status: number): object {
  const all: readonly DocumentedFailure[] = [...DENIALS_WITHOUT_LINKS.map(failureOf), ...GATEWAY_FAILURES];
  const failures = all.filter((each) => each.status === status);
  return {
    description: failures.map(({ code, title }) => `\`${code}\` ${title}`).join('; '),
    headers: headersOf(status),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    'x-codes': failures.map(({ code }) => code),
  };
}

/**
 * The parts of an operation that the gateway adds to any product: the key, samples, and the gateway's own refusals instead of the API's
 * responses of the same statuses.
 * @param operation resolved: see `ReferenceResolver`
 */
export function gatewayParts(
  product: CatalogueProduct,
  operation: Json,
  sample: { method: string; path: string; baseUrl: string },
): object {
  return {
    tags: [product.id],
    security: securityOf(product),
    'x-codeSamples': asCodeSamples(writeCall(callOf(operation, sample), sample.baseUrl)),
  };
}

/** The responses that an API's document declares, and the gateway's. */
export const withGatewayAnswers = (responses: unknown): object => ({ ...(responses as object), ...GATEWAY_ANSWERS });

/**
 * An id that no other operation has. Paths that differ only in characters that an id cannot have are numbered.
 * @param taken ids of the operations described so far; this one is added
 */
export function operationId(product: string, { method, path }: { method: string; path: string }, taken: Set<string>): string {
  const name = `${product}_${method}_${path.replace(/^\//, '').replaceAll(/[^A-Za-z0-9]+/g, '_')}`;
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}_${number}`;
  taken.add(free);
  return free;
}

/** The operations of a product that has routes but no document. */
export function productPaths(product: CatalogueProduct, { baseUrl, taken }: { baseUrl: string; taken: Set<string> }): object {
  return Object.fromEntries(
    [...new Set(product.routes.map(({ path }) => path))].map((path) => {
      const of = product.routes.filter((route) => route.path === path);
      return [
        path,
        Object.fromEntries(
          of.flatMap((route) => methodsOf(route).map((method) => [method, describe(product, { route, method, baseUrl, taken })])),
        ),
      ];
    }),
  );
}

/** OpenAPI has no word for `ANY`. */
function methodsOf({ method }: CatalogueRoute): readonly string[] {
  return method === 'ANY' ? ['get', 'post'] : [method.toLowerCase()];
}

function describe(
  product: CatalogueProduct,
  { route, method, baseUrl, taken }: { route: CatalogueRoute; method: string; baseUrl: string; taken: Set<string> },
): object {
  const { path, purpose } = route;
  const parameters = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const operation = {
    operationId: operationId(product.id, { method, path }, taken),
    summary: purpose,
    ...(parameters.length > 0 && { parameters }),
    responses: withGatewayAnswers({ '200': { description: 'The API’s response.' } }),
  };
  return { ...operation, ...gatewayParts(product, operation, { method, path, baseUrl }) };
}
