import { type ReactNode } from 'react';
import { type CatalogueProduct, hasSandbox } from '../../../plugins/core/catalogue/catalogue';
import { PageFrame, type PageTools, signUpPath } from './page-frame';
import { CodeBlock } from './code-block';
import { ProductParts } from './product-page';
import { type Operation, successOf } from './operations';
import { Status } from './product-table';
import { type ShownApi } from './shown-api';
import { TryForm } from './try-form';
import { describeLimits, isOffered, priceFrom } from '../brand/wording';
import { FREE_PLAN } from '../reference/plan-name';

interface LandingPageProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
  /** A call to try, if a product has one with an example. */
  readonly tried: Operation | undefined;
  readonly api: ShownApi;
}

/** A real call and its response side by side, before anything is asked of the reader. */
function FirstTry({ operation, tools }: { readonly operation: Operation; readonly tools: PageTools }): ReactNode {
  const { summary, tags } = operation;
  const curl = operation['x-codeSamples'].find(({ lang }) => lang === 'curl');
  const sample = successOf(operation)?.sample;
  return (
    <section aria-labelledby="try" className="first-try">
      <h2 id="try">See an answer first</h2>
      <p>
        {summary}, in the sandbox, without an account. <a href={`/reference/${tags[0]}`}>Its reference</a>
      </p>
      <div className="call-and-answer">
        {curl && (
          <div>
            <CodeBlock code={curl.source} language="shell" label="The call with curl" copy="code" />
          </div>
        )}
        {sample && <CodeBlock code={JSON.stringify(sample.value, undefined, 2)} language="json" label="Its answer" />}
      </div>
      <TryForm operation={operation} tools={{ ...tools, isSandbox: true }} />
    </section>
  );
}

/** Products with their purpose and their lowest price. */
function ProductCards({
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

/** The first page of a reader without an account. */
export function LandingPage({ tools, products, tried, api }: LandingPageProps): ReactNode {
  const offered = products.filter(isOffered);
  const count = offered.length;
  const only = count === 1 ? offered[0] : undefined;
  const isTestable = products.some(hasSandbox);
  const title = count === 0 ? 'No APIs yet' : (only?.title ?? `${count} APIs, one key`);
  const { headline = title, subheadline } = tools.brand.words ?? {};
  const published =
    count === 0
      ? 'Products appear here as soon as they are on sale.'
      : `Limits and prices of each are published.${isTestable ? ' Test keys are free and answered by a sandbox: try before you pay.' : ''}`;
  const description = subheadline ?? only?.description ?? published;
  return (
    <PageFrame tools={tools} title={`${tools.brand.name}: ${headline}`} description={description} path="/" products={offered}>
      <section className="hero">
        <h1>{headline}</h1>
        <p className="lead">{description}</p>
        <p className="actions">
          <a className="button" href={signUpPath('/')}>
            Create an account
          </a>
          <a className="button second" href="/reference">
            Read the reference
          </a>
        </p>
      </section>
      {count === 0 && (
        <section aria-labelledby="first">
          <h2 id="first">Is this your shop?</h2>
          <p>Put your API behind the gateway, then make it live:</p>
          <CodeBlock
            code={'npx tollgate product new weather --url http://127.0.0.1:9000\nnpx tollgate catalogue apply'}
            language="shell"
            label="Commands for the seller"
          />
        </section>
      )}
      {tried && tools.canTry && <FirstTry operation={tried} tools={tools} />}
      {only && <ProductParts tools={tools} product={only} api={api} isTried={tried !== undefined} />}
      {count > 1 && (
        <section aria-labelledby="products">
          <h2 id="products">Products and prices</h2>
          <p>
            <a href="/pricing">Compare all plans and costs</a>. Every product has its own daily and monthly limit.
            {isTestable &&
              ' Test keys have the same limits, counted separately, and are answered by a sandbox, so that trying costs nothing.'}
          </p>
          <ProductCards products={products} tools={tools} />
        </section>
      )}
    </PageFrame>
  );
}
