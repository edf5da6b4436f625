import { useQuery } from '@tanstack/react-query';
import { productsQuery } from '../api/queries';

/** Names products by their titles. A product that is no longer sold keeps its id. */
export function useProductTitles(): (product: string) => string {
  const { data } = useQuery(productsQuery);
  return (product) => data?.products.find(({ id }) => id === product)?.title ?? product;
}
