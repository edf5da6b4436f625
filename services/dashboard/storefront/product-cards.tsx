import { type ReactNode } from 'react';
import { FREE_PLAN } from '../reference/plan-name';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { type PageTools } from './page-frame';
import { Status } from './product-table';
import { describeLimits, isOffered, priceFrom } from '../brand/wording';

/** Products with their purpose and their lowest price. */
export function ProductCards({
  products,
  tools: { liveSources },
}: {
  readonly products: readonly CatalogueProduct[];
  readonly tools: Pick<PageTools, 'liveSources'>;
}): ReactNode {
  return (
    <ul className="product-cards">
      {products.filter(isOffered).map((product) => (
        <li key={product.id}>
          <h3>
            <a href={`/products/${product.id}`}>{product.title}</a>
          </h3>
          <p>{product.description}</p>
          <p className="price">
            <strong>{priceFrom(product)}</strong>
            {product.base && (
              <span className="quiet block">
                {FREE_PLAN}: {describeLimits(product.base)}
              </span>
            )}
          </p>
          <div className="quiet">
            <Status product={product} source={liveSources?.find(product.id) ?? null} />
          </div>
        </li>
      ))}
    </ul>
  );
}
