import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { type Route, type ServiceDefinition } from './define-service';

/** When a route serves live keys. `/live` reports it to the dashboard. */
export interface LiveRoute {
  readonly path: string;
  /**
   * `always`: with or without the product's source. `in_part`: without the source only in the cases that `only` names. `kept`: without the
   * source only for responses of other routes that the caller kept. `with_source`: only with the source. `about`: the route describes the
   * product itself.
   */
  readonly opens: 'always' | 'in_part' | 'kept' | 'with_source' | 'about';
  readonly only?: string;
  /** The product whose source counts; absent: the route's own product. */
  readonly of?: string;
}

function opensOf({ isLight, takesKeptAnswers, withoutSource }: Route): Pick<LiveRoute, 'opens' | 'only'> {
  if (isLight) return { opens: 'about' };
  if (takesKeptAnswers) return { opens: 'kept' };
  if (withoutSource === undefined) return { opens: 'with_source' };
  return withoutSource === true ? { opens: 'always' } : { opens: 'in_part', only: withoutSource };
}

/**
 * The published routes of a service's product, and those of other products that admit its keys, each path once.
 * @param isServed false if the service has no workers, so that only the index responds
 */
export function liveRoutesOf(
  { products: [id], routes }: Pick<ServiceDefinition, 'products' | 'routes'>,
  { products, isServed }: { readonly products: readonly CatalogueProduct[]; readonly isServed: boolean },
): LiveRoute[] {
  const published = new Set(products.find((product) => product.id === id)?.routes.map(({ path }) => path));
  const own = routes.flatMap((route): LiveRoute[] => {
    if (!published.delete(route.path)) return [];
    const known = opensOf(route);
    return [{ path: route.path, ...(isServed || known.opens === 'about' ? known : { opens: 'with_source' }) }];
  });
  const admitting = products.filter(({ alsoAdmits }) => alsoAdmits?.includes(id));
  return [
    ...own,
    ...admitting.flatMap(({ id: of, routes: more }) => more.map(({ path }): LiveRoute => ({ path, opens: 'with_source', of }))),
  ];
}
