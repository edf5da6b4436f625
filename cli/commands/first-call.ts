import { type Catalogue } from '../../plugins/core/selling/catalogue';

export interface FirstCallOptions {
  readonly key: string;
  readonly products: readonly string[];
  readonly catalogue: Catalogue;
  /** Undefined when no instance runs from this folder. */
  readonly gateway: string | undefined;
}

/** A query with which the route answers something worth seeing; others are called bare. */
const QUERIES: Readonly<Record<string, string>> = { '/ip': '?ip=8.8.8.8', '/pincode': '?country=IN&pin=110001' };

/** Lines with a curl command that is ready to run, for the first product that has a route; none when none has. */
export function firstCall({ key, products, catalogue, gateway = 'http://127.0.0.1:8000' }: FirstCallOptions): string[] {
  const [route] = products.flatMap((id) => catalogue.find(id)?.routes ?? []);
  if (!route) return [];
  return ['try it:', `  curl -H 'X-API-Key: ${key}' '${gateway}${route.path}${QUERIES[route.path] ?? ''}'`];
}
