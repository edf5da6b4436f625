import { type ReactNode } from 'react';
import { FREE_PLAN } from '../reference/plan-name';
import { type CatalogueProduct, hasSandbox, refusesTestKeys } from '../../../plugins/core/catalogue/catalogue';
import { type ApiDocument } from '../contract/api-document';
import { sharedCodes, SharedAnswers } from './answer-list';
import { OperationSection } from './operation-section';
import { type Operation } from './operations';
import { PageFrame, type PageTools } from './page-frame';
import { type CallTools, TryKey } from './try-form';
import { describeLimits, describePlan, formatPrice, isOffered } from '../brand/wording';

interface ReferenceProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
  /** Of all products. */
  readonly operations: readonly Operation[];
}

const ofProduct = (operations: readonly Operation[], product: CatalogueProduct): readonly Operation[] =>
  operations.filter(({ tags }) => tags[0] === product.id);

function OperationLinks({ operations, page = '' }: { readonly operations: readonly Operation[]; readonly page?: string }): ReactNode {
  return operations.map(({ operationId, method, path }) => (
    <a key={operationId} href={`${page}#${operationId}`}>
      {method} {path}
    </a>
  ));
}

/** Leads to the routes of this product, and where there is room to those of the others. */
function Routes({ products, product, operations }: Omit<ReferenceProps, 'tools'> & { readonly product: CatalogueProduct }): ReactNode {
  return (
    <nav aria-label="Routes" className="routes">
      <a href="/reference">All routes</a>
      {products.filter(isOffered).map((each) => (
        <div key={each.id} className={each.id === product.id ? 'here' : undefined}>
          <a href={`/reference/${each.id}`} aria-current={each.id === product.id ? 'page' : undefined}>
            {each.title}
          </a>
          {each.id === product.id && <OperationLinks operations={ofProduct(operations, each)} />}
        </div>
      ))}
    </nav>
  );
}

/** Calls that can be made here: a customer's with a test key unless the product refuses those, a reader's in a sandbox only. */
function callToolsOf(product: CatalogueProduct, tools: PageTools): CallTools {
  const isSandbox = hasSandbox(product);
  return { isSignedIn: tools.isSignedIn && !refusesTestKeys(product), canTry: tools.canTry && isSandbox, isSandbox };
}

interface ProductReference {
  readonly product: CatalogueProduct;
  /** Operations that cannot be shown, of all products. */
  readonly leftOut: ApiDocument['x-left-out'];
}

/** One product: its limits, and every way to call it. */
export function ReferencePage({ product, leftOut, ...reference }: ReferenceProps & ProductReference): ReactNode {
  const { tools } = reference;
  const callTools = callToolsOf(product, tools);
  const { id, title, description, base, plans } = product;
  const operations = ofProduct(reference.operations, product);
  const prices = plans.map((plan) => `${plan.name}, ${formatPrice(plan)} a month: ${describePlan(plan)}`);
  const shared = sharedCodes(operations);
  const missing = leftOut.filter((each) => each.product === id).map(({ operation }) => operation);
  const limits = [...(base ? [`${FREE_PLAN}: ${describeLimits(base)}`] : []), ...prices];
  return (
    <PageFrame tools={tools} title={`${title} API`} description={description} path={`/reference/${id}`}>
      <div className="reference">
        <Routes {...reference} product={product} />
        <div>
          <h1>{title}</h1>
          <p className="lead">{description}</p>
          <ul className="limits">
            {limits.map((limit) => (
              <li key={limit}>{limit}</li>
            ))}
          </ul>
          {refusesTestKeys(product) && <p>This product has no sandbox: test keys are refused. Use a live key.</p>}
          {callTools.isSignedIn && <TryKey product={product} />}
          {operations.map((operation) => (
            <OperationSection key={operation.operationId} operation={operation} shared={shared} tools={callTools} />
          ))}
          {missing.length > 0 && <p>This page cannot show {missing.join(', ')}: the description is broken or too intricate.</p>}
          <SharedAnswers shared={shared} />
        </div>
      </div>
    </PageFrame>
  );
}

function ProductEntry({
  product,
  operations,
}: {
  readonly product: CatalogueProduct;
  readonly operations: readonly Operation[];
}): ReactNode {
  const { id, title, description, base } = product;
  return (
    <li className="entry">
      <a href={`/reference/${id}`}>{title}</a>
      <span className="block">{description}</span>
      {base && (
        <span className="quiet block">
          {FREE_PLAN}: {describeLimits(base)}
        </span>
      )}
      <ul className="plain">
        {operations.map(({ operationId, method, path, summary }) => (
          <li key={operationId}>
            <a href={`/reference/${id}#${operationId}`}>
              {method} {path}
            </a>{' '}
            <span className="quiet">{summary}</span>
          </li>
        ))}
      </ul>
    </li>
  );
}

/** Where the reference of each route is, and what holds for all of them. */
export function ReferenceIndex({ tools, products, operations }: ReferenceProps): ReactNode {
  const description = 'How the key is sent, what limits and refusals look like, and every route of every product with an example.';
  return (
    <PageFrame tools={tools} title="API reference" description={description} path="/reference">
      <h1>API reference</h1>
      <p className="lead">{description}</p>
      <p>
        The base URL is <code>{tools.gatewayUrl}</code>. Send your key as <code>Authorization: Bearer …</code> or <code>X-API-Key: …</code>.
        Refusals are <code>application/problem+json</code> with a stable <code>code</code> and a <code>request_id</code>:{' '}
        <a href="/reference/errors">all errors and what to do</a>. Every answer of a product to a request with a key says in{' '}
        <code>RateLimit</code> what is left of the day and the month. All of this for programs: <a href="/openapi.json">OpenAPI document</a>
        .
      </p>
      <search className="find" hidden>
        <label>
          <span>Find a route</span>
          <input type="search" placeholder="Path, product or purpose" autoComplete="off" spellCheck={false} />
        </label>
        <p role="status" />
      </search>
      <ul className="cards">
        {products.filter(isOffered).map((product) => (
          <ProductEntry key={product.id} product={product} operations={ofProduct(operations, product)} />
        ))}
      </ul>
    </PageFrame>
  );
}
