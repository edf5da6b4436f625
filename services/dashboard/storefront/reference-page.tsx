import { Fragment, type ReactNode } from 'react';
import { FREE_PLAN } from '../reference/plan-name';
import { type CatalogueProduct, hasSandbox, refusesTestKeys } from '../../../plugins/core/catalogue/catalogue';
import { type ApiDocument } from '../contract/api-document';
import { sharedCodes, SharedAnswers } from './answer-list';
import { Description } from './markdown';
import { groupAnchor, groupsOf, MAX_TOGETHER, type OperationGroup, partOf, type ReferencePart } from './operation-groups';
import { GroupIndex, OperationIndex, RouteSearch } from './operation-index';
import { OperationSection } from './operation-section';
import { type Operation, operationsIn } from './operations';
import { PageFrame, type PageTools } from './page-frame';
import { type CallTools, TryKey } from './try-form';
import { describeLimits, describePlan, formatPrice, isOffered } from '../brand/wording';

interface ReferenceProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
  readonly document: ApiDocument;
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

/** Leads to the routes of this product, and where there is room to those of the others. */
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

/** Calls that can be made here: a customer's with a test key unless the product refuses those, a reader's in a sandbox only. */
function callToolsOf(product: CatalogueProduct, tools: PageTools): CallTools {
  const isSandbox = hasSandbox(product);
  return { isSignedIn: tools.isSignedIn && !refusesTestKeys(product), canTry: tools.canTry && isSandbox, isSandbox };
}

/** Every way to call a product, under the headings of its author. */
function Operations({ groups, tools }: { readonly groups: readonly OperationGroup[]; readonly tools: CallTools }): ReactNode {
  const shared = sharedCodes(groups.flatMap(({ operations }) => operations));
  return (
    <>
      {groups.map(({ name, description, operations }) => (
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

/** How much of each operation a page shows: all of it, a link, or a link for all of a tag. */
export type ReferenceView = 'operations' | 'list' | 'tags';

interface ProductReference extends ReferenceProps {
  readonly product: CatalogueProduct;
  /** All of it unless given. */
  readonly part?: ReferencePart | undefined;
  readonly view: ReferenceView;
}

/** One product: its limits, and every way to call it. */
export function ReferencePage({ tools, products, document, product, part, view }: ProductReference): ReactNode {
  const callTools = callToolsOf(product, tools);
  const { id, title, description, base, plans } = product;
  const groups = partOf(groupsOf(document, id), part ?? {});
  const prices = plans.map((plan) => `${plan.name}, ${formatPrice(plan)} a month: ${describePlan(plan)}`);
  const missing = document['x-left-out'].filter((each) => each.product === id).map(({ operation }) => operation);
  const limits = [...(base ? [`${FREE_PLAN}: ${describeLimits(base)}`] : []), ...prices];
  return (
    <PageFrame tools={tools} title={`${title} API`} description={description} path={`/reference/${id}`}>
      <div className="reference" data-pages={part || view === 'operations' ? undefined : `/reference/${id}`}>
        <Routes {...{ products, product, groups: part || view !== 'operations' ? [] : groups }} />
        <div>
          {part && (
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
          {view === 'operations' && <Operations groups={groups} tools={callTools} />}
          {view === 'list' && <OperationIndex product={id} groups={groups} />}
          {view === 'tags' && <GroupIndex product={id} groups={groups} />}
          {missing.length > 0 && <p>This page cannot show {missing.join(', ')}: the description is broken or too intricate.</p>}
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
      {operations.length > MAX_TOGETHER && <span className="block">{operations.length} routes</span>}
      <ul className="plain">
        {(operations.length > MAX_TOGETHER ? [] : operations).map(({ operationId, method, path, summary }) => (
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

/** Links to the reference of each route, and what holds for all of them. */
export function ReferenceIndex({ tools, products, document }: ReferenceProps): ReactNode {
  const operations = operationsIn(document);
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
      <RouteSearch placeholder="Path, product or purpose" />
      <ul className="cards">
        {products.filter(isOffered).map((product) => (
          <ProductEntry key={product.id} product={product} operations={operations.filter(({ tags }) => tags[0] === product.id)} />
        ))}
      </ul>
    </PageFrame>
  );
}
