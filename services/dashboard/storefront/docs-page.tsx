import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { firstCallOf, pickFirst, targetOf } from '../../selling/catalogue/first-call';
import { type DocPage, fillIn } from './doc-pages';
import { Markdown, safeLink } from './markdown';
import { PageFrame, type PageTools } from './page-frame';
import { SearchForm } from './search-page';

/** A URL worth calling first: of a product with a GET, else the gateway's list of products. */
function firstUrl(products: readonly CatalogueProduct[], gatewayUrl: string): string {
  const product = pickFirst(products);
  const call = product && firstCallOf(product);
  return `${gatewayUrl}${call?.method === 'GET' ? targetOf(call) : '/'}`;
}

/** Turns `limits.md#retries`, as files beside each other link, into the page's address. */
function linkTo(target: string): string | undefined {
  const page = /^(?:\.\/)?(?:\d+-)?([a-z0-9][a-z0-9-]*)\.md(#.*)?$/.exec(target);
  return page ? `/docs/${page[1]}${page[2] ?? ''}` : safeLink(target);
}

function DocLinks({ docs, slug }: { readonly docs: readonly DocPage[]; readonly slug?: string }): ReactNode {
  return docs.map((page) => (
    <a key={page.slug} href={`/docs/${page.slug}`} aria-current={page.slug === slug ? 'page' : undefined}>
      {page.title}
    </a>
  ));
}

interface DocsPageProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
  readonly page: DocPage;
}

/** One page, with links to the others. */
export function DocsPage({ tools, products, page }: DocsPageProps): ReactNode {
  const { docs } = tools.pages;
  const place = docs.findIndex(({ slug }) => slug === page.slug);
  const next = docs[place + 1];
  return (
    <PageFrame tools={tools} title={page.title} description={page.summary.slice(0, 300)} path={`/docs/${page.slug}`}>
      <div className="guide">
        <nav aria-label="Guides">
          <a href="/docs">All guides</a>
          <DocLinks docs={docs} slug={page.slug} />
        </nav>
        <article>
          {!/^#\s/m.test(page.text) && <h1>{page.title}</h1>}
          <Markdown text={fillIn(page.text, { call: firstUrl(products, tools.gatewayUrl) })} linkTo={linkTo} />
          {next && (
            <p className="next">
              Next: <a href={`/docs/${next.slug}`}>{next.title}</a>
            </p>
          )}
        </article>
      </div>
    </PageFrame>
  );
}

/** All pages, each with its subject. */
export function DocsIndex({ tools }: { readonly tools: PageTools }): ReactNode {
  const description = `How to call the APIs of ${tools.brand.name}: keys, limits, errors and webhooks.`;
  return (
    <PageFrame tools={tools} title="Guides" description={description} path="/docs">
      <h1>Guides</h1>
      <p className="lead">{description}</p>
      <SearchForm />
      <ul className="cards">
        {tools.pages.docs.map(({ slug, title, summary }) => (
          <li key={slug}>
            <a href={`/docs/${slug}`}>
              <strong>{title}</strong>
            </a>
            <span className="block">{summary}</span>
          </li>
        ))}
      </ul>
      <p>
        Every route with its fields and an example: <a href="/reference">API reference</a>. Every code:{' '}
        <a href="/reference/errors">errors</a>.
      </p>
    </PageFrame>
  );
}
