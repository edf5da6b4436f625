import { type ReactElement } from 'react';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { type ApiDocument } from '../contract/api-document';
import { ErrorsPage } from './errors-page';
import { type Explained, ExplainPage } from './explain-page';
import { type Failure, FailurePage } from './failure-page';
import { LandingPage } from './landing-page';
import { type PageTools } from './page-frame';
import { PricingPage } from './pricing-page';
import { ProductsPage } from './products-page';
import { firstToTry, operationsIn } from './operations';
import { type MailStep, StatusMailPage } from './status-mail-page';
import { type StatusContent, StatusPage } from './status-page';
import { groupsOf, MAX_TOGETHER, partOf, type ReferencePart } from './operation-groups';
import { ReferenceIndex, ReferencePage, type ReferenceView } from './reference-page';
import { ChangelogPage } from './changelog-page';
import { DocsIndex, DocsPage } from './docs-page';
import { type DocPage } from './doc-pages';
import { ProductPage } from './product-page';
import { MissingPage, type SearchEntry, SearchPage } from './search-page';

/** What pages tell of. */
export interface PageContent {
  readonly products: readonly CatalogueProduct[];
  readonly document: ApiDocument;
  /** For the page that shows it. */
  readonly status?: StatusContent | undefined;
}

/** Which of the pages. */
export type PageName =
  | { readonly kind: 'landing' | 'products' | 'reference' | 'errors' | 'status' | 'docs' | 'changelog' | 'missing' }
  | { readonly kind: 'failure'; readonly failure: Failure }
  | { readonly kind: 'explain'; readonly explained: Explained }
  | { readonly kind: 'status-mail'; readonly step: MailStep }
  | { readonly kind: 'doc'; readonly doc: DocPage }
  | { readonly kind: 'search'; readonly search: string; readonly found: readonly SearchEntry[] }
  | { readonly kind: 'offer'; readonly product: CatalogueProduct }
  | { readonly kind: 'pricing'; readonly step: number }
  | ReferenceName;

interface ReferenceName {
  readonly kind: 'product';
  readonly product: CatalogueProduct;
  /** All of it unless given. */
  readonly part?: ReferencePart | undefined;
  /** The part of the reference; as much as fits on a page unless given. */
  readonly view?: ReferenceView | undefined;
}

function elementOf(page: PageName, tools: PageTools, content: PageContent): ReactElement {
  const { products, document } = content;
  const operations = operationsIn(document);
  switch (page.kind) {
    case 'landing':
      return <LandingPage tools={tools} products={products} tried={firstToTry(content)} operations={operations} />;
    case 'products':
      return <ProductsPage tools={tools} products={products} />;
    case 'pricing':
      return <PricingPage tools={tools} products={products} step={page.step} />;
    case 'reference':
      return <ReferenceIndex tools={tools} products={products} document={document} />;
    case 'errors':
      return <ErrorsPage tools={tools} products={products} document={document} />;
    case 'status':
      return content.status ? <StatusPage tools={tools} products={products} content={content.status} /> : <MissingPage tools={tools} />;
    case 'docs':
      return <DocsIndex tools={tools} />;
    case 'doc':
      return <DocsPage tools={tools} products={products} page={page.doc} />;
    case 'changelog':
      return tools.pages.changelog ? <ChangelogPage tools={tools} changelog={tools.pages.changelog} /> : <MissingPage tools={tools} />;
    case 'search':
      return <SearchPage tools={tools} search={page.search} found={page.found} />;
    case 'offer':
      return <ProductPage tools={tools} product={page.product} operations={operations.filter(({ tags }) => tags[0] === page.product.id)} />;
    case 'failure':
      return <FailurePage tools={tools} failure={page.failure} />;
    case 'explain':
      return <ExplainPage tools={tools} explained={page.explained} />;
    case 'status-mail':
      return <StatusMailPage tools={tools} products={products} step={page.step} />;
    case 'missing':
      return <MissingPage tools={tools} />;
    case 'product':
      return <ReferencePage {...{ tools, products, document, product: page.product, part: page.part, view: page.view ?? 'operations' }} />;
  }
}

/** React escapes quotes in texts too, where they mean nothing: in samples of code a tenth of a page. Its attributes stay as they are. */
const plainQuotes = (html: string): string => html.replace(/>[^<]+</g, (text) => text.replaceAll('&quot;', '"').replaceAll('&#x27;', "'"));

/** A public page as HTML. React escapes everything in it that is not ours. */
export async function renderPage(page: PageName, tools: PageTools, content: PageContent): Promise<string> {
  // Loaded when a page is first wanted: it takes as long as much else of the dashboard's start.
  const { renderToStaticMarkup } = await import('react-dom/server');
  const write = (one: PageName, by: PageTools): string =>
    `<!doctype html>${plainQuotes(renderToStaticMarkup(elementOf(one, by, content)))}`;
  if (page.kind !== 'product' || page.part?.operation !== undefined) return write(page, tools);
  // A reader finds the same after signing in, when the page has a few fields more.
  const view = viewOf(page, content, (one) => write(one, { ...tools, isSignedIn: false }));
  return write({ ...page, view }, tools);
}

/** The bound of every public page, except that of one operation. */
const MAX_PAGE_BYTES = 80 * 1_024;

/** The view with most in it that is small enough. */
function viewOf(page: ReferenceName, { document }: PageContent, write: (page: PageName) => string): ReferenceView {
  const groups = partOf(groupsOf(document, page.product.id), page.part ?? {});
  const count = groups.reduce((sum, { operations }) => sum + operations.length, 0);
  const fits = (view: ReferenceView): boolean => Buffer.byteLength(write({ ...page, view })) <= MAX_PAGE_BYTES;
  if (count <= MAX_TOGETHER && fits('operations')) return 'operations';
  return page.part !== undefined || fits('list') ? 'list' : 'tags';
}
