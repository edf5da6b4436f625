import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { PageFrame, type PageTools } from './page-frame';
import { ProductTable } from './product-table';
import { isOffered, NOTHING_ON_SALE } from '../brand/wording';

/** All that is sold or listed. */
export function ProductsPage({
  tools,
  products,
}: {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
}): ReactNode {
  const offered = products.filter(isOffered).length;
  const description =
    products.length === 0
      ? NOTHING_ON_SALE
      : products.length === 1
        ? 'One product with its limits, plans and prices.'
        : `All ${products.length} products with their limits, plans and prices; ${offered} can be called today.`;
  return (
    <PageFrame tools={tools} title="Products and prices" description={description} path="/products">
      <h1>Products and prices</h1>
      <p className="lead">{description}</p>
      {products.length > 0 && <ProductTable products={products} tools={tools} />}
    </PageFrame>
  );
}
