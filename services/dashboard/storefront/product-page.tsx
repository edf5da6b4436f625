import { type ReactNode } from 'react';
import { type CatalogueProduct, hasSandbox, refusesTestKeys } from '../../../plugins/core/catalogue/catalogue';
import { CodeBlock } from './code-block';
import { successOf } from './operations';
import { MAX_TOGETHER, type OperationEntry, type ShownApi } from './shown-api';
import { PageFrame, type PageTools, signUpPath } from './page-frame';
import { type KnownSource } from '../http/dashboard-deps';
import { PlanOffers } from './plan-offers';
import { Status } from './product-table';
import { formatCount } from '../brand/wording';

interface ProductPageProps {
  readonly tools: PageTools;
  readonly product: CatalogueProduct;
  readonly api: ShownApi;
}

interface OperationsProps {
  readonly api: ShownApi;
  /** Operations of the product. */
  readonly operations: readonly OperationEntry[];
}

/** The first response that the description has an example of, beside its call. */
function Sample({ api, operations }: OperationsProps): ReactNode {
  for (const entry of operations.filter(({ hasSample }) => hasSample)) {
    const operation = api.read(entry);
    const sample = successOf(operation)?.sample;
    const curl = operation['x-codeSamples'].find(({ lang }) => lang === 'curl');
    if (!sample || !curl) continue;
    return (
      <section aria-labelledby="sample">
        <h2 id="sample">A call and its answer</h2>
        <div className="call-and-answer">
          <div>
            <CodeBlock code={curl.source} language="shell" label="The call with curl" copy="code" />
          </div>
          <CodeBlock code={JSON.stringify(sample.value, undefined, 2)} language="json" label="Its answer" />
        </div>
      </section>
    );
  }
  return null;
}

function Endpoints({ product: { id }, api, operations }: OperationsProps & Pick<ProductPageProps, 'product'>): ReactNode {
  if (operations.length === 0) return null;
  return (
    <section aria-labelledby="endpoints">
      <h2 id="endpoints">Endpoints</h2>
      <ul className="found">
        {operations.slice(0, MAX_TOGETHER).map((entry) => (
          <li key={entry.operationId}>
            <a href={api.placeOf(entry)}>
              <span className="method">{entry.method}</span> <code>{entry.path}</code>
            </a>
            <span className="quiet block">{entry.summary}</span>
          </li>
        ))}
      </ul>
      {operations.length > MAX_TOGETHER && <a href={`/reference/${id}`}>All {operations.length} routes</a>}
    </section>
  );
}

const DAYS = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

function DataOf({ asOf }: { readonly asOf: string | null | undefined }): ReactNode {
  if (asOf === undefined) return 'current data';
  if (asOf === null) return 'without a date';
  return (
    <>
      data of <time dateTime={asOf}>{DAYS.format(new Date(asOf))}</time>
    </>
  );
}

/** The sources of the data and their age: as the service reports, else as the catalogue says. */
function Sources({
  product: { sources = [] },
  source,
}: Pick<ProductPageProps, 'product'> & { readonly source: KnownSource | null }): ReactNode {
  const data = source?.data ?? [];
  if (sources.length + data.length === 0) return null;
  return (
    <section aria-labelledby="sources">
      <h2 id="sources">Sources</h2>
      <ul className="limits">
        {sources.map(({ name, url, asOf }) => (
          <li key={name}>
            {url === undefined ? name : <a href={url}>{name}</a>}
            {data.length === 0 && (
              <span className="quiet">
                , <DataOf asOf={asOf} />
              </span>
            )}
          </li>
        ))}
        {data.map(({ name, asOf }) => (
          <li key={name}>
            {name}
            <span className="quiet">
              , <DataOf asOf={asOf} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A call beside its response and the other calls, unless the page shows such a call already, then the price. */
export function ProductParts({ tools, product, api, isTried = false }: ProductPageProps & { readonly isTried?: boolean }): ReactNode {
  const operations = isTried ? [] : api.entriesOf(product.id);
  return (
    <>
      <Sample api={api} operations={operations} />
      <Endpoints product={product} api={api} operations={operations} />
      <section aria-labelledby="plans">
        <h2 id="plans">Plans</h2>
        <PlanOffers tools={tools} product={product} />
      </section>
    </>
  );
}

/** One product for a prospective customer: what it does, what it costs, and what a response looks like. */
export function ProductPage({ tools, product, api }: ProductPageProps): ReactNode {
  const { id, title, description, slots, units, consent, plans } = product;
  const source = tools.liveSources?.find(id) ?? null;
  return (
    <PageFrame tools={tools} title={title} description={description} path={`/products/${id}`} products={[product]}>
      <p className="crumb">
        <a href="/products">Products</a>
      </p>
      <h1>{title}</h1>
      <p className="lead">{description}</p>
      <div className="quiet">
        <Status product={product} source={source} />
      </div>
      <p className="actions">
        <a className="button" href={tools.isSignedIn ? '/keys' : signUpPath(`/reference/${id}`)}>
          {tools.isSignedIn ? 'Your keys' : 'Get a key'}
        </a>
        <a className="button second" href={`/reference/${id}`}>
          Reference
        </a>
      </p>
      <ProductParts tools={tools} product={product} api={api} />
      <Sources product={product} source={source} />
      <section aria-labelledby="limits">
        <h2 id="limits">Limits</h2>
        <ul className="limits">
          <li>
            Each subscription has a daily and a monthly limit. When one is used up, requests are refused
            {plans.some(({ overage }) => overage)
              ? ', unless the plan sells more: then they cost what it says, up to its cap.'
              : ', and nothing more is charged.'}
          </li>
          {units && (
            <li>
              Limits are counted in units. A call takes {formatCount(units.reserve)} first; its response then says what it costs,{' '}
              {formatCount(units.most)} at most. Calls under way when a limit is used up may exceed it, each by up to{' '}
              {formatCount(units.most - units.reserve)}.
            </li>
          )}
          {slots !== undefined && <li>At most {formatCount(slots)} requests of a subscription run at once.</li>}
          {hasSandbox(product) && <li>Test keys have the same limits, counted separately, and are answered by a sandbox.</li>}
          {refusesTestKeys(product) && <li>There is no sandbox: test keys are refused.</li>}
          {consent !== undefined && <li>You are asked for a consent when you subscribe.</li>}
        </ul>
        <p>
          <a href="/pricing">What expected requests cost</a> · <a href="/docs/limits">How limits and retries work</a>
        </p>
      </section>
    </PageFrame>
  );
}
