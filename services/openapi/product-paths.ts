import { type KeyPlace } from '../../plugins/core/key-places';
import { type CatalogueProduct, type CatalogueRoute } from '../../plugins/core/selling/catalogue';

/** The places of a key that OpenAPI has a word for; see docs on keys. */
const SCHEMES: readonly (readonly [KeyPlace, string])[] = [
  ['x-api-key', 'apiKeyHeader'],
  ['authorization', 'bearer'],
  ['query', 'apiKeyQuery'],
];

/** In any one of the places that the product takes. */
export function securityOf({ keyIn }: CatalogueProduct): Record<string, string[]>[] {
  return SCHEMES.filter(([place]) => keyIn === undefined || keyIn.includes(place)).map(([, scheme]) => ({ [scheme]: [] }));
}

/** What every operation behind the gateway has, whoever answers it. */
export function gatewayParts(product: CatalogueProduct, sample: { method: string; path: string; baseUrl: string }): object {
  const { method, path, baseUrl } = sample;
  const act = method === 'get' ? '' : ` -X ${method.toUpperCase()}`;
  const source = `curl -sS${act} "${baseUrl}${path}" \\\n  -H "X-API-Key: $API_KEY"`;
  return { tags: [product.id], security: securityOf(product), 'x-codeSamples': [{ lang: 'curl', label: 'curl', source }] };
}

/** A name that no other product's operation has. */
export function operationId(product: string, method: string, path: string): string {
  return `${product}_${method}_${path.replace(/^\//, '').replaceAll(/[^A-Za-z0-9]+/g, '_')}`;
}

/** The operations of a product of which only its routes are known. */
export function productPaths(product: CatalogueProduct, baseUrl: string): object {
  return Object.fromEntries(
    [...new Set(product.routes.map(({ path }) => path))].map((path) => {
      const of = product.routes.filter((route) => route.path === path);
      return [
        path,
        Object.fromEntries(
          of.flatMap((route) => methodsOf(route).map((method) => [method, describe(product, { route, method, baseUrl })])),
        ),
      ];
    }),
  );
}

/** `ANY` has no word in OpenAPI. */
function methodsOf({ method }: CatalogueRoute): readonly string[] {
  return method === 'ANY' ? ['get', 'post'] : [method.toLowerCase()];
}

function describe(
  product: CatalogueProduct,
  { route, method, baseUrl }: { route: CatalogueRoute; method: string; baseUrl: string },
): object {
  const { path, purpose } = route;
  const parameters = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return {
    operationId: operationId(product.id, method, path),
    summary: purpose,
    ...(parameters.length > 0 && { parameters }),
    responses: { '200': { description: 'What the API answers.' } },
    ...gatewayParts(product, { method, path, baseUrl }),
  };
}
