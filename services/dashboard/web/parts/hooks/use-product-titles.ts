import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../api/operator-queries';
import { productsQuery } from '../api/queries';

type TitleOf = (product: string) => string;
type Titled = { readonly products: readonly { readonly id: string; readonly title: string }[] };

/** A product that is no longer sold keeps its id. */
const titlesIn =
  (data: Titled | undefined): TitleOf =>
  (product) =>
    data?.products.find(({ id }) => id === product)?.title ?? product;

/** Names products by their titles, on a customer's pages. */
export function useProductTitles(): TitleOf {
  return titlesIn(useQuery(productsQuery).data);
}

/** The same in the seller's console. */
export function useSoldTitles(): TitleOf {
  return titlesIn(useQuery(catalogueQuery).data);
}
