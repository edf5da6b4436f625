import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../../plugins/core/selling/catalogue';
import { sharedCodes, SharedAnswers } from './answer-list';
import { OperationSection } from './operation-section';
import { type Operation } from './operations';
import { PageFrame, type PageTools } from './page-frame';
import { describeLimits, formatPrice, isOffered } from './wording';

interface ReferencePageProps {
  readonly tools: PageTools;
  readonly product: CatalogueProduct;
  readonly operations: readonly Operation[];
}

/** One product: its limits, and every way to call it. */
export function ReferencePage({ tools, product, operations }: ReferencePageProps): ReactNode {
  const { id, title, description, base, plans } = product;
  const prices = plans.map((plan) => `${plan.name}, ${formatPrice(plan)} a month: ${describeLimits(plan)}`);
  const shared = sharedCodes(operations);
  const limits = [...(base ? [`Without a plan: ${describeLimits(base)}`] : []), ...prices];
  return (
    <PageFrame tools={tools} title={`${title} API`} description={description} path={`/reference/${id}`}>
      <p className="crumb">
        <a href="/reference">Reference</a>
      </p>
      <h1>{title}</h1>
      <p className="lead">{description}</p>
      <ul className="limits">
        {limits.map((limit) => (
          <li key={limit}>{limit}</li>
        ))}
      </ul>
      {operations.length > 1 && (
        <nav aria-label="Routes" className="routes">
          {operations.map(({ operationId, method, path }) => (
            <a key={operationId} href={`#${operationId}`}>
              {method} {path}
            </a>
          ))}
        </nav>
      )}
      {operations.map((operation) => (
        <OperationSection key={operation.operationId} operation={operation} shared={shared} canTry={tools.canTry} />
      ))}
      <SharedAnswers shared={shared} />
    </PageFrame>
  );
}

interface ReferenceIndexProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
}

/** Where the reference of each product is, and what holds for all of them. */
export function ReferenceIndex({ tools, products }: ReferenceIndexProps): ReactNode {
  const description = 'How the key is sent, what limits and refusals look like, and every route of every product with an example.';
  return (
    <PageFrame tools={tools} title="API reference" description={description} path="/reference">
      <h1>API reference</h1>
      <p className="lead">{description}</p>
      <p>
        The base URL is <code>{tools.gatewayUrl}</code>. Send your key as <code>Authorization: Bearer …</code> or <code>X-API-Key: …</code>.
        Refusals are <code>application/problem+json</code> with a stable <code>code</code> and a <code>request_id</code>:{' '}
        <a href="/reference/errors">all errors and what to do</a>. Every admitted answer says in <code>RateLimit</code> what is left of the
        day and the month.
      </p>
      <ul className="cards">
        {products.filter(isOffered).map(({ id, title, description: what, routes, base }) => (
          <li key={id}>
            <a href={`/reference/${id}`}>{title}</a>
            <span className="block">{what}</span>
            <span className="quiet block">
              {routes.length} {routes.length === 1 ? 'route' : 'routes'}
              {base && `, ${describeLimits(base)} without a plan`}
            </span>
          </li>
        ))}
      </ul>
    </PageFrame>
  );
}
