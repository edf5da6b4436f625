import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';

/** Products with the price of each plan for search engines (schema.org). It is data, which no browser runs. */
export function StructuredPrices({ products, url }: { readonly products: readonly CatalogueProduct[]; readonly url: string }): ReactNode {
  const priced = products
    .filter(({ plans }) => plans.length > 0)
    .map(({ id, title, description, plans }) => ({
      '@type': 'Product',
      name: title,
      description,
      url: `${url}/products/${id}`,
      offers: plans.map(({ name, price, currency }) => ({ '@type': 'Offer', name, price, priceCurrency: currency })),
    }));
  const text = JSON.stringify({ '@context': 'https://schema.org', '@graph': priced }).replaceAll('<', '\\u003c');
  return <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: text }} />;
}
