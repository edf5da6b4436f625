import { useQuery } from '@tanstack/react-query';
import { productsQuery } from '../api/queries';

/** Names products as people know them; by its id one that is sold no more. */
export function useProductTitles(): (product: string) => string {
  const { data } = useQuery(productsQuery);
  return (product) => data?.products.find(({ id }) => id === product)?.title ?? product;
}
