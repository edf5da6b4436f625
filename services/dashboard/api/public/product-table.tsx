import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../../plugins/core/selling/catalogue';
import { LiveStatus } from './live-status';
import { type PageTools } from './page-frame';
import { describeLimits, formatPrice, isOffered } from './wording';

function Plans({ plans }: Pick<CatalogueProduct, 'plans'>): ReactNode {
  if (plans.length === 0) return <span className="quiet">None</span>;
  return (
    <ul className="plain">
      {plans.map((plan) => (
        <li key={plan.name}>
          <strong>{plan.name}</strong>: {formatPrice(plan)} a month
          <span className="quiet block">{describeLimits(plan)}</span>
        </li>
      ))}
    </ul>
  );
}

function Row({ product, liveSources }: { readonly product: CatalogueProduct } & Pick<PageTools, 'liveSources'>): ReactNode {
  const { id, title, description, base, plans } = product;
  return (
    <tr id={id}>
      <th scope="row">
        {isOffered(product) ? <a href={`/reference/${id}`}>{title}</a> : title}
        <span className="quiet block">{description}</span>
        <code className="block">{id}</code>
      </th>
      <td data-label="Without a plan">{base ? describeLimits(base) : <span className="quiet">No limits published</span>}</td>
      <td data-label="Plans">
        <Plans plans={plans} />
      </td>
      <td data-label="Status">
        {isOffered(product) ? <LiveStatus source={liveSources?.find(id) ?? null} /> : <span className="badge">Listed only</span>}
      </td>
    </tr>
  );
}

/** Every product with its limits and prices. */
export function ProductTable({
  products,
  tools: { liveSources },
}: {
  readonly products: readonly CatalogueProduct[];
  readonly tools: Pick<PageTools, 'liveSources'>;
}): ReactNode {
  return (
    <table className="products">
      <thead>
        <tr>
          <th scope="col">Product</th>
          <th scope="col">Without a plan</th>
          <th scope="col">Plans</th>
          <th scope="col">Status</th>
        </tr>
      </thead>
      <tbody>
        {products.map((product) => (
          <Row key={product.id} product={product} liveSources={liveSources} />
        ))}
      </tbody>
    </table>
  );
}
