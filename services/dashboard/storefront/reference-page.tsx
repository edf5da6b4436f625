import { Fragment, type ReactElement, type ReactNode } from 'react';
import { FREE_PLAN } from '../reference/plan-name';
import { type CatalogueProduct, hasSandbox, refusesTestKeys } from '../../../plugins/core/catalogue/catalogue';
import { type CodesByStatus, sharedCodes, SharedAnswers } from './answer-list';
import { Description } from './markdown';
import { groupAnchor, type OperationGroup, type ReferencePart } from './operation-groups';
import { GroupIndex, type ListPage, OperationIndex, RouteSearch } from './operation-index';
import { OperationSection } from './operation-section';
import { type Operation } from './operations';
import { MAX_TOGETHER, type OperationEntry, type ShownApi } from './shown-api';
import { PageFrame, type PageTools } from './page-frame';
import { type TryTools, TryKey } from './try-form';
import { describeLimits, describePlan, formatPrice, isOffered } from '../brand/wording';

interface ReferenceProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
  readonly api: ShownApi;
}

function OperationLinks({ groups }: { readonly groups: readonly OperationGroup[] }): ReactNode {
  return groups.map(({ name, operations }) => (
    <Fragment key={name ?? ''}>
      {name !== undefined && (
        <a className="group" href={`#${groupAnchor(name)}`}>
          {name}
        </a>
      )}
      {operations.map(({ operationId, method, path }) => (
        <a key={operationId} href={`#${operationId}`}>
          {method} {path}
        </a>
      ))}
    </Fragment>
  ));
}

interface RoutesProps {
  readonly products: readonly CatalogueProduct[];
  readonly product: CatalogueProduct;
  readonly groups: readonly OperationGroup[];
}

/** Links to the routes of this product, and to those of the others if there is room. */
function Routes({ products, product, groups }: RoutesProps): ReactNode {
  return (
    <nav aria-label="Routes" className="routes">
      <a href="/reference">All routes</a>
      {products.filter(isOffered).map((each) => (
        <div key={each.id} className={each.id === product.id ? 'here' : undefined}>
          <a href={`/reference/${each.id}`} aria-current={each.id === product.id ? 'page' : undefined}>
            {each.title}
          </a>
          {each.id === product.id && <OperationLinks groups={groups} />}
        </div>
      ))}
    </nav>
  );
}

/** One operation by itself, as {@link Operations} shows it. */
export function sectionOf(
  operation: Operation,
  shared: CodesByStatus,
  { tools, product }: Pick<ProductReference, 'tools' | 'product'>,
): ReactElement {
  return <OperationSection {...{ operation, shared, tools: callToolsOf(product, tools), level: 3 as const }} />;
}

/** The calls that can be made here: a customer's with a test key unless the product refuses those, a reader's in a sandbox only. */
function callToolsOf(product: CatalogueProduct, tools: PageTools): TryTools {
  const isSandbox = hasSandbox(product);
  return { isSignedIn: tools.isSignedIn && !refusesTestKeys(product), canTry: tools.canTry && isSandbox, isSandbox };
}

interface OperationsProps {
  readonly groups: readonly OperationGroup[];
  readonly api: ShownApi;
  readonly tools: TryTools;
}

/** Every way to call a product, under its author's headings. */
function Operations({ groups, api, tools }: OperationsProps): ReactNode {
  const all = groups.map((group) => ({ ...group, operations: group.operations.map((entry) => api.read(entry)) }));
  const shared = sharedCodes(all.flatMap(({ operations }) => operations));
  return (
    <>
      {all.map(({ name, description, operations }) => (
        <Fragment key={name ?? ''}>
          {name !== undefined && <h2 id={groupAnchor(name)}>{name}</h2>}
          {description !== undefined && <Description text={description} />}
          {operations.map((operation) => (
            <OperationSection
              key={operation.operationId}
              {...{ operation, shared, tools, level: name === undefined ? (2 as const) : (3 as const) }}
            />
          ))}
        </Fragment>
      ))}
      <SharedAnswers shared={shared} />
    </>
  );
}

/** How a page shows operations: each in full, a link to each, or a link to each tag. */
export type ReferenceView =
  { readonly kind: 'operations'; readonly groups: readonly OperationGroup[] } | ({ readonly kind: 'list' | 'tags' } & ListPage);

interface ProductReference extends ReferenceProps {
  readonly product: CatalogueProduct;
  /** All of it unless given. */
  readonly part?: ReferencePart | undefined;
  readonly view: ReferenceView;
}

/** Further ones are counted. */
const MAX_MISSING = 20;

function Missing({ operations }: { readonly operations: readonly string[] }): ReactNode {
  if (operations.length === 0) return null;
  const more = operations.length > MAX_MISSING ? ` and ${operations.length - MAX_MISSING} more` : '';
  return (
    <p>
      This page cannot show {operations.slice(0, MAX_MISSING).join(', ')}
      {more}: the description is broken or too intricate.
    </p>
  );
}

/** One product: its limits, and every way to call it. */
export function ReferencePage({ tools, products, api, product, part, view }: ProductReference): ReactNode {
  const callTools = callToolsOf(product, tools);
  const { id, title, description, base, plans } = product;
  const isPart = part?.tag !== undefined || part?.operation !== undefined;
  const prices = plans.map((plan) => `${plan.name}, ${formatPrice(plan)} a month: ${describePlan(plan)}`);
  const missing = api.overview['x-left-out'].filter((each) => each.product === id).map(({ operation }) => operation);
  const limits = [...(base ? [`${FREE_PLAN}: ${describeLimits(base)}`] : []), ...prices];
  return (
    <PageFrame tools={tools} title={`${title} API`} description={description} path={`/reference/${id}`}>
      <div className="reference" data-pages={isPart || view.kind === 'operations' ? undefined : `/reference/${id}`}>
        <Routes {...{ products, product, groups: isPart || view.kind !== 'operations' ? [] : view.groups }} />
        <div>
          {isPart && (
            <p className="crumb">
              <a href={`/reference/${id}`}>All of {title}</a>
            </p>
          )}
          <h1>{title}</h1>
          <p className="lead">{description}</p>
          <ul className="limits">
            {limits.map((limit) => (
              <li key={limit}>{limit}</li>
            ))}
          </ul>
          {refusesTestKeys(product) && <p>This product has no sandbox: test keys are refused. Use a live key.</p>}
          {callTools.isSignedIn && <TryKey product={product} />}
          {view.kind === 'operations' && <Operations groups={view.groups} api={api} tools={callTools} />}
          {view.kind === 'list' && <OperationIndex {...view} product={id} part={part} />}
          {view.kind === 'tags' && <GroupIndex {...view} product={id} />}
          <Missing operations={missing} />
        </div>
      </div>
    </PageFrame>
  );
}

interface EntryProps {
  readonly product: CatalogueProduct;
  readonly operations: readonly OperationEntry[];
  /** Whether the operations are listed as links. Otherwise they are counted. */
  readonly isOpen: boolean;
}

function ProductEntry({ product, operations, isOpen }: EntryProps): ReactNode {
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
      {!isOpen && <span className="block">{operations.length === 1 ? '1 route' : `${operations.length} routes`}</span>}
      <ul className="plain">
        {(isOpen ? operations : []).map(({ operationId, method, path, summary }) => (
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

/** More operations of all products would make the page too long. */
const MAX_LISTED = 3 * MAX_TOGETHER;

/** Links to the reference of each route, and what applies to all of them. */
export function ReferenceIndex({ tools, products, api }: ReferenceProps): ReactNode {
  const description = 'How the key is sent, what limits and refusals look like, and every route of every product with an example.';
  return (
    <PageFrame tools={tools} title="API reference" description={description} path="/reference">
      <h1>API reference</h1>
      <p className="lead">{description}</p>
      <p>
        The base URL is <code>{tools.gatewayUrl}</code>. Send your key as <code>Authorization: Bearer …</code> or <code>X-API-Key: …</code>.
        Refusals are <code>application/problem+json</code> with a stable <code>code</code> and a <code>request_id</code>:{' '}
        <a href="/reference/errors">all errors and what to do</a>. Every response of a product to a request with a key says in{' '}
        <code>RateLimit</code> what is left of the day and the month. For programs: <a href="/openapi.json">OpenAPI document</a>.
      </p>
      {api.overview.entries.length > 0 && <RouteSearch placeholder="Path, product or purpose" />}
      <ul className="cards">
        {products.filter(isOffered).map((product) => (
          <ProductEntry
            key={product.id}
            product={product}
            operations={api.entriesOf(product.id)}
            isOpen={api.overview.entries.length <= MAX_LISTED && api.entriesOf(product.id).length <= MAX_TOGETHER}
          />
        ))}
      </ul>
    </PageFrame>
  );
}
