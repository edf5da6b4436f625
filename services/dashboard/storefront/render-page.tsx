import { type ReactElement } from 'react';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { ErrorsPage } from './errors-page';
import { type Explained, ExplainPage } from './explain-page';
import { type PageFailure, FailurePage } from './failure-page';
import { LandingPage } from './landing-page';
import { type PageTools } from './page-frame';
import { PricingPage } from './pricing-page';
import { ProductsPage } from './products-page';
import { type MailStep, StatusMailPage } from './status-mail-page';
import { type StatusContent, StatusPage } from './status-page';
import { sharedCodes } from './answer-list';
import { groupPages, groupsOf, listPages, partOf, type OperationGroup, type ReferencePart } from './operation-groups';
import { ReferenceIndex, ReferencePage, type ReferenceView, sectionOf } from './reference-page';
import { MAX_TOGETHER, type ShownApi } from './shown-api';
import { ChangelogPage } from './changelog-page';
import { DocsIndex, DocsPage } from './docs-page';
import { ProductPage } from './product-page';
import { MissingPage, type SearchEntry, SearchPage } from './search-page';

/** The content of pages. */
export interface PageContent {
  readonly products: readonly CatalogueProduct[];
  readonly api: ShownApi;
  /** For the status page. */
  readonly status?: StatusContent | undefined;
}

/** Which of the pages. */
export type PageName =
  | { readonly kind: 'landing' | 'products' | 'reference' | 'errors' | 'status' | 'docs' | 'changelog' | 'missing' }
  | { readonly kind: 'failure'; readonly failure: PageFailure }
  | { readonly kind: 'explain'; readonly explained: Explained }
  | { readonly kind: 'status-mail'; readonly step: MailStep }
  | { readonly kind: 'doc'; readonly slug: string }
  | { readonly kind: 'search'; readonly search: string; readonly found: readonly SearchEntry[] }
  | { readonly kind: 'offer'; readonly product: CatalogueProduct }
  | { readonly kind: 'pricing'; readonly step: number }
  | ReferenceName;

interface ReferenceName {
  readonly kind: 'product';
  readonly product: CatalogueProduct;
  /** All of it unless given. */
  readonly part?: ReferencePart | undefined;
}

function elementOf(page: Exclude<PageName, ReferenceName>, tools: PageTools, content: PageContent): ReactElement {
  const { products, api } = content;
  switch (page.kind) {
    case 'landing':
      return <LandingPage tools={tools} products={products} tried={api.tried()} api={api} />;
    case 'products':
      return <ProductsPage tools={tools} products={products} />;
    case 'pricing':
      return <PricingPage tools={tools} products={products} step={page.step} />;
    case 'reference':
      return <ReferenceIndex tools={tools} products={products} api={api} />;
    case 'errors':
      return <ErrorsPage tools={tools} products={products} api={api} />;
    case 'status':
      return content.status ? <StatusPage tools={tools} products={products} content={content.status} /> : <MissingPage tools={tools} />;
    case 'docs':
      return <DocsIndex tools={tools} />;
    case 'doc': {
      const doc = tools.pages.docs.find(({ slug }) => slug === page.slug);
      return doc ? <DocsPage tools={tools} products={products} page={doc} /> : <MissingPage tools={tools} />;
    }
    case 'changelog':
      return tools.pages.changelog ? <ChangelogPage tools={tools} changelog={tools.pages.changelog} /> : <MissingPage tools={tools} />;
    case 'search':
      return <SearchPage tools={tools} search={page.search} found={page.found} />;
    case 'offer':
      return <ProductPage tools={tools} product={page.product} api={api} />;
    case 'failure':
      return <FailurePage tools={tools} failure={page.failure} />;
    case 'explain':
      return <ExplainPage tools={tools} explained={page.explained} />;
    case 'status-mail':
      return <StatusMailPage tools={tools} products={products} step={page.step} />;
    case 'missing':
      return <MissingPage tools={tools} />;
  }
}

/**
 * React escapes quotes in text too, where that is not needed; in samples of code this is a tenth of a page. Attributes stay as they are.
 */
const plainQuotes = (html: string): string => html.replace(/>[^<]+</g, (text) => text.replaceAll('&quot;', '"').replaceAll('&#x27;', "'"));

/** Loaded when a page is first needed: loading takes a large part of the dashboard's start-up time. */
async function markupWriter(): Promise<(element: ReactElement) => string> {
  const { renderToStaticMarkup } = await import('react-dom/server');
  return (element) => plainQuotes(renderToStaticMarkup(element));
}

const DOCTYPE = '<!doctype html>';

/** A public page as HTML. React escapes everything in it that is not ours. */
export async function renderPage(page: Exclude<PageName, ReferenceName>, tools: PageTools, content: PageContent): Promise<string> {
  const write = await markupWriter();
  return DOCTYPE + write(elementOf(page, tools, content));
}

/**
 * A page of a product's reference as HTML.
 * @returns undefined if there is no such part or page
 */
export async function renderReference(
  { product, part = {} }: Omit<ReferenceName, 'kind'>,
  tools: PageTools,
  { products, api }: PageContent,
): Promise<string | undefined> {
  const write = await markupWriter();
  const pageOf = (view: ReferenceView, by: PageTools): string =>
    DOCTYPE + write(<ReferencePage {...{ tools: by, products, api, product, part, view }} />);
  const groups = partOf(groupsOf(api, product.id), part);
  const isPart = part.tag !== undefined || part.operation !== undefined;
  if (groups.length === 0 && isPart) return undefined;
  const whole: ReferenceView = { kind: 'operations', groups };
  // A signed-in reader finds the same, on a page with a few more fields.
  const reader = { ...tools, isSignedIn: false };
  const fits = (): boolean =>
    sectionsFit(groups, api, (operation, shared) => write(sectionOf(operation, shared, { tools: reader, product }))) &&
    Buffer.byteLength(pageOf(whole, reader)) <= MAX_PAGE_BYTES;
  const isWhole = part.operation !== undefined || (part.page === undefined && fits());
  const view = isWhole ? whole : listView(groups, part);
  return view && pageOf(view, tools);
}

/** Maximum size of every public page, except that of one operation. */
const MAX_PAGE_BYTES = 80 * 1_024;

/** Whether all of these operations fit on a page. It stops at the first that does not, because all of them could be megabytes. */
function sectionsFit(groups: readonly OperationGroup[], api: ShownApi, write: (...section: Section) => string): boolean {
  const entries = groups.flatMap(({ operations }) => operations);
  if (entries.length > MAX_TOGETHER) return false;
  const operations = entries.map((entry) => api.read(entry));
  const shared = sharedCodes(operations);
  let bytes = 0;
  return operations.every((operation) => (bytes += Buffer.byteLength(write(operation, shared))) <= MAX_PAGE_BYTES);
}

type Section = [Parameters<typeof sectionOf>[0], Parameters<typeof sectionOf>[1]];

/** Links to the operations, or to their tags where a page cannot list all of them. */
function listView(groups: readonly OperationGroup[], { tag, page = 1 }: ReferencePart): ReferenceView | undefined {
  const lists = listPages(groups);
  const kind = tag === undefined && lists.length > 1 && groups.length > 1 ? 'tags' : 'list';
  const pages = kind === 'tags' ? groupPages(groups) : lists;
  const shown = pages[page - 1];
  return shown && { kind, groups: shown, page, pages: pages.length };
}
