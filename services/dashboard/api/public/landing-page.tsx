import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../../plugins/core/catalogue';
import { PageFrame, type PageTools, signUpPath } from './page-frame';
import { ProductTable } from './product-table';
import { inWords, isOffered } from './wording';

interface LandingPageProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
  /** A call to try, where a product has one. */
  readonly children?: ReactNode;
}

/** As many as a sentence bears. */
const NAMED = 4;

/** The first page of whoever has no account. */
export function LandingPage({ tools, products, children }: LandingPageProps): ReactNode {
  const offered = products.filter(isOffered);
  const named = offered.filter(({ plans }) => plans.length > 0).slice(0, NAMED);
  const description = `${offered.length} APIs behind one key, among them ${inWords(named.map(({ title }) => title))}. Test keys are free.`;
  return (
    <PageFrame tools={tools} title={`${tools.brand.name}: ${offered.length} APIs, one key`} description={description} path="/">
      <section className="hero">
        <h1>{offered.length} APIs, one key</h1>
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
      {children}
      <section aria-labelledby="products">
        <h2 id="products">Products and prices</h2>
        <p>
          Every product has its own daily and monthly limit. Test keys have the same limits, count by themselves and are answered by a
          sandbox, so that trying costs nothing.
        </p>
        <ProductTable products={products} />
      </section>
      <section aria-labelledby="how">
        <h2 id="how">How a call is made</h2>
        <p>Send the key in a header. Every refusal has a stable code and a request id that you can look up.</p>
        <pre tabIndex={0} aria-label="A call with curl">
          <code>{`curl -H "X-API-Key: $API_KEY" ${tools.gatewayUrl}${offered[0]?.prefix ?? '/'}`}</code>
        </pre>
      </section>
    </PageFrame>
  );
}
