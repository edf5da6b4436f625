import { type ReactNode } from 'react';
import { useSoldTitles } from '../parts/hooks/use-product-titles';

/** A product in a table of the console. */
export function ProductTitle({ of: product }: { readonly of: string }): ReactNode {
  return <span className="keep">{useSoldTitles()(product)}</span>;
}
