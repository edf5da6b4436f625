import { type ReactNode } from 'react';
import { type CatalogueProduct, hasSandbox } from '../../../../plugins/core/selling/catalogue';
import { PageFrame, type PageTools, signUpPath } from './page-frame';
import { ProductTable } from './product-table';
import { type Operation } from './operations';
import { TryForm } from './try-form';
import { isOffered } from './wording';

interface LandingPageProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
  /** A call to try, where a product has one with an example. */
  readonly tried: Operation | undefined;
}

/** A first answer before anything is asked of the reader. */
function FirstTry({ operation, tools }: { readonly operation: Operation; readonly tools: PageTools }): ReactNode {
  const { summary, tags } = operation;
  const curl = operation['x-codeSamples'].find(({ lang }) => lang === 'curl');
  return (
    <section aria-labelledby="try" className="first-try">
      <h2 id="try">See an answer first</h2>
      <p>
        {summary}, in the sandbox, without an account. <a href={`/reference/${tags[0]}`}>Its reference</a>
      </p>
      {curl && (
        <pre tabIndex={0} aria-label="The call with curl" data-copy="code">
          <code>{curl.source}</code>
        </pre>
      )}
      <TryForm operation={operation} tools={tools} />
    </section>
  );
}

/** The first page of whoever has no account. */
export function LandingPage({ tools, products, tried }: LandingPageProps): ReactNode {
  const count = products.filter(isOffered).length;
  const isTestable = products.some(hasSandbox);
  const title = count === 0 ? 'No APIs yet' : `${count} ${count === 1 ? 'API' : 'APIs'}, one key`;
  const description = `Limits and prices of each are published.${isTestable ? ' Test keys are free and answered by a sandbox: try before you pay.' : ''}`;
  return (
    <PageFrame tools={tools} title={`${tools.brand.name}: ${title}`} description={description} path="/">
      <section className="hero">
        <h1>{title}</h1>
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
      {tried && tools.canTry && <FirstTry operation={tried} tools={tools} />}
      <section aria-labelledby="products">
        <h2 id="products">Products and prices</h2>
        <p>
          Every product has its own daily and monthly limit.
          {isTestable &&
            ' Test keys have the same limits, count by themselves and are answered by a sandbox, so that trying costs nothing.'}
        </p>
        <ProductTable products={products} tools={tools} />
      </section>
    </PageFrame>
  );
}
