import { type Product } from '../../../contract/plans';

/** A query with which the route answers something worth seeing; others are called bare. */
const QUERIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/ip': { ip: '8.8.8.8' },
  '/pincode': { country: 'IN', pin: '110001' },
};

/** Products whose first route is worth a first call; tried in this order before any other. */
const BEST_FIRST = ['api-ip', 'api-pincode'];

/** What a first call asks for. */
export interface FirstRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/**
 * A call that needs nothing but a key.
 * @param products of the key, as the API lists them
 * @returns undefined when none of the products has a route
 */
export function firstRequest(products: readonly Product[]): FirstRequest | undefined {
  const callable = products.filter((product) => product.routes.length > 0);
  const chosen = callable.find((product) => BEST_FIRST.includes(product.id)) ?? callable[0];
  const route = chosen?.routes.find((each) => each.method !== 'POST') ?? chosen?.routes[0];
  return route && { method: route.method === 'POST' ? 'POST' : 'GET', path: route.path, query: QUERIES[route.path] ?? {} };
}

/** The same as a curl command that is ready to run. */
export function firstCall(secret: string, products: readonly Product[], gatewayUrl: string): string | undefined {
  const request = firstRequest(products);
  if (!request) return undefined;
  const query = new URLSearchParams(request.query).toString();
  const target = `${gatewayUrl.replace(/\/$/, '')}${request.path}${query === '' ? '' : `?${query}`}`;
  return `curl ${request.method === 'POST' ? '-X POST ' : ''}-H 'X-API-Key: ${secret}' '${target}'`;
}
