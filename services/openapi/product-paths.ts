import { type CatalogueProduct, type CatalogueRoute } from '../../plugins/core/selling/catalogue';

/** In any one of three places; see docs on keys. */
const SECURITY = [{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }];

/** What every operation behind the gateway has, whoever answers it. */
export function gatewayParts(product: string, sample: { method: string; path: string; baseUrl: string }): object {
  const { method, path, baseUrl } = sample;
  const act = method === 'get' ? '' : ` -X ${method.toUpperCase()}`;
  const source = `curl -sS${act} "${baseUrl}${path}" \\\n  -H "X-API-Key: $API_KEY"`;
  return { tags: [product], security: SECURITY, 'x-codeSamples': [{ lang: 'curl', label: 'curl', source }] };
}

/** A name that no other product's operation has. */
export function operationId(product: string, method: string, path: string): string {
  return `${product}_${method}_${path.replace(/^\//, '').replaceAll(/[^A-Za-z0-9]+/g, '_')}`;
}

/** The operations of a product of which only its routes are known. */
export function productPaths({ id, routes }: CatalogueProduct, baseUrl: string): object {
  return Object.fromEntries(
    [...new Set(routes.map(({ path }) => path))].map((path) => {
      const of = routes.filter((route) => route.path === path);
      return [
        path,
        Object.fromEntries(of.flatMap((route) => methodsOf(route).map((method) => [method, describe(id, { route, method, baseUrl })]))),
      ];
    }),
  );
}

/** `ANY` has no word in OpenAPI. */
function methodsOf({ method }: CatalogueRoute): readonly string[] {
  return method === 'ANY' ? ['get', 'post'] : [method.toLowerCase()];
}

function describe(product: string, { route, method, baseUrl }: { route: CatalogueRoute; method: string; baseUrl: string }): object {
  const { path, purpose } = route;
  const parameters = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return {
    operationId: operationId(product, method, path),
    summary: purpose,
    ...(parameters.length > 0 && { parameters }),
    responses: { '200': { description: 'What the API answers.' } },
    ...gatewayParts(product, { method, path, baseUrl }),
  };
}
