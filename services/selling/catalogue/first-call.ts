import { type CatalogueProduct, refusesTestKeys } from '../../../plugins/core/catalogue/catalogue';

/** A call that needs nothing but a key. */
export interface FirstCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/**
 * The call that shows a customer what the product returns: the catalogue's `first_call`, else the first route without a path parameter, a
 * GET before a POST. Undefined if there is none.
 */
export function firstCallOf({ firstCall, routes }: Pick<CatalogueProduct, 'firstCall' | 'routes'>): FirstCall | undefined {
  if (firstCall !== undefined) {
    const { pathname, searchParams } = new URL(firstCall, 'http://gateway');
    return { method: 'GET', path: pathname, query: Object.fromEntries(searchParams) };
  }
  const ready = routes.filter(({ path }) => !path.includes('{'));
  const route = ready.find(({ method }) => method === 'GET' || method === 'ANY') ?? ready.find(({ method }) => method === 'POST');
  return route && { method: route.method === 'POST' ? 'POST' : 'GET', path: route.path, query: {} };
}

/** Path and query as in a URL. */
export function targetOf({ path, query }: FirstCall): string {
  const written = new URLSearchParams(query).toString();
  return `${path}${written === '' ? '' : `?${written}`}`;
}

/**
 * The product with which newcomers begin, among those that can be subscribed to and called. A product with a `first_call` comes first, then
 * one that takes test keys, then the catalogue's order.
 */
export function pickFirst(products: readonly CatalogueProduct[]): CatalogueProduct | undefined {
  const callable = products.filter((product) => product.subscribable && firstCallOf(product) !== undefined);
  const ready = callable.filter((product) => !refusesTestKeys(product));
  return [...ready.filter(({ firstCall }) => firstCall !== undefined), ...ready, ...callable][0];
}
