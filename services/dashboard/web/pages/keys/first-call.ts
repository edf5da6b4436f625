import { type Product } from '../../../contract/plans';

/** A query with which the route answers something worth seeing; others are called bare. */
const QUERIES: Readonly<Record<string, string>> = { '/ip': '?ip=8.8.8.8', '/pincode': '?country=IN&pin=110001' };

/** Products whose first route is worth a first call; tried in this order before any other. */
const BEST_FIRST = ['api-ip', 'api-pincode'];

/**
 * A curl command that is ready to run.
 * @param products of the key, as the API lists them
 * @returns undefined when none of the products has a route
 */
export function firstCall(secret: string, products: readonly Product[], gatewayUrl: string): string | undefined {
  const callable = products.filter((product) => product.routes.length > 0);
  const chosen = callable.find((product) => BEST_FIRST.includes(product.id)) ?? callable[0];
  const route = chosen?.routes.find((each) => each.method !== 'POST') ?? chosen?.routes[0];
  if (!route) return undefined;
  const method = route.method === 'POST' ? '-X POST ' : '';
  return `curl ${method}-H 'X-API-Key: ${secret}' '${gatewayUrl.replace(/\/$/, '')}${route.path}${QUERIES[route.path] ?? ''}'`;
}
