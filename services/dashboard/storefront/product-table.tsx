import { type ReactNode } from 'react';
import { openedText, opensNothing } from '../reference/live-routes';
import { FREE_PLAN } from '../reference/plan-name';
import { type CatalogueProduct, refusesTestKeys } from '../../../plugins/core/catalogue/catalogue';
import { type LiveSource } from '../contract/plans';
import { type KnownSource } from '../http/dashboard-deps';
import { type PageTools } from './page-frame';
import { describeLimits, describePlan, formatPrice, isOffered } from '../brand/wording';

const MOMENTS = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

function Since({ since }: Pick<LiveSource, 'since'>): ReactNode {
  return (
    <span className="quiet block">
      Since <time dateTime={since}>{MOMENTS.format(new Date(since))} UTC</time>
    </span>
  );
}

/** The kinds of keys that are served. Why live keys are not is the seller's business. */
function LiveStatus({ source }: { readonly source: KnownSource | null }): ReactNode {
  // An API of the seller's own reports no source, so nothing is shown.
  if (source === null) return null;
  const opened = openedText(source);
  const isNothing = opensNothing(source);
  const less = source.isThere ? 'Index only' : isNothing ? 'Test keys only' : 'Test keys, live keys in part';
  return (
    <>
      <span className={isNothing ? 'badge' : 'badge open'}>{opened === undefined ? 'Live and test keys' : less}</span>
      {opened !== undefined && !isNothing && <span className="quiet block">{opened}</span>}
      <Since since={source.since} />
    </>
  );
}

/** The kinds of keys that are served, in a word and since when. */
export function Status({ product, source }: { readonly product: CatalogueProduct; readonly source: KnownSource | null }): ReactNode {
  if (!isOffered(product)) return <span className="badge">Listed only</span>;
  if (refusesTestKeys(product)) return <span className="badge">Live keys only</span>;
  return <LiveStatus source={source} />;
}

/** A notice beside prices about what live keys open today. Empty if that is everything, or unknown. */
export function NoLiveSource({ source }: { readonly source: KnownSource | null }): ReactNode {
  const opened = source === null ? undefined : openedText(source);
  return opened === undefined ? null : <span className="block">{opened}</span>;
}

function Plans({ plans }: Pick<CatalogueProduct, 'plans'>): ReactNode {
  if (plans.length === 0) return <span className="quiet">None</span>;
  return (
    <ul className="plain">
      {plans.map((plan) => (
        <li key={plan.name}>
          <strong>{plan.name}</strong>: {formatPrice(plan)} a month
          <span className="quiet block">{describePlan(plan)}</span>
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
        {isOffered(product) ? <a href={`/products/${id}`}>{title}</a> : title}
        <span className="quiet block">{description}</span>
        <code className="block">{id}</code>
      </th>
      <td data-label={FREE_PLAN}>{base ? describeLimits(base) : <span className="quiet">No limits published</span>}</td>
      <td data-label="Plans">
        <Plans plans={plans} />
      </td>
      <td data-label="Status">
        <Status product={product} source={liveSources?.find(id) ?? null} />
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
          <th scope="col">{FREE_PLAN}</th>
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
