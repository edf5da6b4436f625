import { windowsAt } from '../../../plugins/core/access/quota';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { listOutages } from '../../selling/outages/list-outages';
import { readAvailability } from '../../selling/outages/product-answers';
import { type DashboardDeps } from '../http/dashboard-deps';
import { keepDocument, type KeptDocument } from '../http/serve-document';
import { type DescriptionSource } from './keep-description';
import { type Explained } from './explain-page';
import { type PageFailure } from './failure-page';
import { type ReferencePart } from './operation-groups';
import { type PageTools } from './page-frame';
import { type PageName, renderPage, renderReference } from './render-page';
import { writeOperation, writeReference } from './reference-markdown';
import { NOTHING_SHOWN, type PackedApi, ShownApi } from './shown-api';
import { type SellersFolder } from './sellers-folder';
import { findEntries, searchEntries, type SearchEntry } from './search-page';
import { type MailStep } from './status-mail-page';
import { STATUS_DAYS, type StatusContent } from './status-page';

export interface ShelfOptions {
  readonly deps: DashboardDeps;
  readonly folder: SellersFolder;
  /** The dashboard's own URL. */
  readonly url: string;
  /** The description of the API. */
  readonly description: DescriptionSource;
  /** Whether calls can be tried without an account. */
  readonly canTry: boolean;
}

const STATUS_MS = 60_000;

async function readStatus({ db, clock, timeZone }: DashboardDeps): Promise<StatusContent> {
  const nowMs = clock.now();
  const { day: today } = windowsAt(nowMs / 1000, timeZone);
  const fromDay = new Date(Date.parse(today) - (STATUS_DAYS - 1) * 86_400_000).toISOString().slice(0, 10);
  const [days, outages] = await Promise.all([readAvailability(db, { fromDay, toDay: today }), listOutages(db, STATUS_DAYS)]);
  return { days, outages, nowMs, timeZone };
}

/** Pages that are also shown without the description; they then leave out calls and routes. */
const CAN_DO_WITHOUT: ReadonlySet<PageName['kind']> = new Set(['landing', 'reference', 'offer']);

/** Distinguishes the pages of one kind. */
function nameOf(page: PageName): string {
  if (page.kind === 'product' || page.kind === 'offer') return `${page.kind} ${page.product.id}`;
  if (page.kind === 'pricing') return `pricing ${page.step}`;
  return page.kind === 'doc' ? `doc ${page.slug}` : page.kind;
}

/** Makes each text once for each revision of the catalogue. */
export class PageShelf {
  private readonly kept = new Map<string, () => Promise<KeptDocument>>();
  private readonly revision: () => Promise<string>;
  private shown: { readonly packed: PackedApi; readonly api: ShownApi } | undefined;

  constructor(private readonly options: ShelfOptions) {
    const { deps, description, folder } = options;
    // Includes the description's own revision, so that a page is never newer by name than the description it was made from.
    this.revision = async () => `${await description.revision()} ${deps.liveSources?.revision() ?? ''} ${folder.revision}`;
  }

  /** @param name distinguishes the variants; the caller keeps their number small */
  find(name: string, read: () => Promise<string>, revision = this.revision): Promise<KeptDocument> {
    const known = this.kept.get(name) ?? keepDocument({ revision, read });
    this.kept.set(name, known);
    return known();
  }

  private async describe({ kind }: PageName): Promise<ShownApi> {
    const isNeeded = kind === 'product' || kind === 'errors';
    if (!isNeeded && !CAN_DO_WITHOUT.has(kind)) return NOTHING_SHOWN;
    try {
      return await this.operations();
    } catch (error) {
      if (isNeeded) throw error;
      this.options.deps.log.warn({ err: error }, 'the description of the API is not there');
      return NOTHING_SHOWN;
    }
  }

  private async operations(): Promise<ShownApi> {
    const { shown } = await this.options.description.read();
    if (this.shown?.packed !== shown) this.shown = { packed: shown, api: new ShownApi(shown) };
    return this.shown.api;
  }

  private toolsFor(isSignedIn: boolean): PageTools {
    const { deps, folder, url, canTry } = this.options;
    return {
      brand: folder.brand,
      pages: folder.pages,
      url,
      gatewayUrl: deps.gatewayUrl.replace(/\/$/, ''),
      isSignedIn,
      canTry,
      canMail: !deps.hasOutbox,
      liveSources: deps.liveSources,
    };
  }

  /** A page for a failure; it needs nothing that may be down. */
  failure(failure: PageFailure, isSignedIn: boolean): Promise<string> {
    return renderPage({ kind: 'failure', failure }, this.toolsFor(isSignedIn), { products: [], api: NOTHING_SHOWN });
  }

  /** The page that explains a request. It is made anew each time, and needs nothing that may be down. */
  explained(explained: Explained, isSignedIn: boolean): Promise<string> {
    return renderPage({ kind: 'explain', explained }, this.toolsFor(isSignedIn), { products: [], api: NOTHING_SHOWN });
  }

  /** The page for a request for mail about outages. */
  async statusMail(step: MailStep, isSignedIn: boolean): Promise<string> {
    const { products } = await this.options.deps.catalogue();
    return renderPage({ kind: 'status-mail', step }, this.toolsFor(isSignedIn), { products, api: NOTHING_SHOWN });
  }

  /** A page of a kind with few pages. */
  page(page: PageName, isSignedIn: boolean): Promise<KeptDocument> {
    const { deps } = this.options;
    const read = async (): Promise<string> => {
      const { products } = await deps.catalogue();
      const current = 'product' in page ? { ...page, product: products.find(({ id }) => id === page.product.id) ?? page.product } : page;
      const status = page.kind === 'status' ? await readStatus(deps) : undefined;
      const tools = this.toolsFor(isSignedIn);
      const content = { products, api: await this.describe(page), status };
      if (current.kind !== 'product') return renderPage(current, tools, content);
      return (await renderReference(current, tools, content)) ?? '';
    };
    return this.find(`${nameOf(page)} ${isSignedIn}`, read, page.kind === 'status' ? () => this.minuteOfStatus() : this.revision);
  }

  /**
   * A part of a product's reference. It is made anew each time, because a long description has too many to keep.
   * @returns undefined if there is no such part
   */
  async part(product: CatalogueProduct, part: ReferencePart, isSignedIn: boolean): Promise<string | undefined> {
    const { products } = await this.options.deps.catalogue();
    return renderReference({ product, part }, this.toolsFor(isSignedIn), { products, api: await this.operations() });
  }

  /** The reference of a product as Markdown. */
  markdown({ id }: CatalogueProduct): Promise<KeptDocument> {
    return this.find(`markdown ${id}`, async () => {
      const product = (await this.options.deps.catalogue()).find(id);
      return product ? writeReference(product, await this.operations(), this.toolsFor(false)) : '';
    });
  }

  /** One operation as Markdown. @returns undefined when there is no such operation */
  async operationMarkdown(product: CatalogueProduct, operationId: string): Promise<string | undefined> {
    const api = await this.operations();
    const entry = api.entriesOf(product.id).find((each) => each.operationId === operationId);
    return entry && writeOperation(product, api.read(entry), this.toolsFor(false));
  }

  /** The results of a search, as a page. It is made anew each time, because readers may search for anything. */
  async search(search: string, isSignedIn: boolean): Promise<string> {
    const { deps, folder } = this.options;
    const { products } = await deps.catalogue();
    const kept = await this.find('search', async () => {
      // Read here, because what is kept is made anew with each change of the catalogue.
      const sold = await deps.catalogue();
      return JSON.stringify(searchEntries(sold.products, await this.describe({ kind: 'reference' }), folder.pages.docs));
    });
    const found = findEntries(JSON.parse(kept.bytes.toString()) as SearchEntry[], search);
    return renderPage({ kind: 'search', search, found }, this.toolsFor(isSignedIn), { products, api: NOTHING_SHOWN });
  }

  /** Availability is read at most once a minute, however many ask. */
  private async minuteOfStatus(): Promise<string> {
    return `${await this.revision()} ${Math.floor(this.options.deps.clock.now() / STATUS_MS)}`;
  }

  /** A status file, as old as the page. */
  statusFile(path: string, write: (products: readonly CatalogueProduct[], content: StatusContent) => string): Promise<KeptDocument> {
    const { deps } = this.options;
    const read = async (): Promise<string> => write((await deps.catalogue()).products, await readStatus(deps));
    return this.find(path, read, () => this.minuteOfStatus());
  }

  /** @returns undefined for an operation that no page shows */
  async placeOf(operation: string): Promise<string | undefined> {
    const api = await this.operations();
    const entry = api.find(operation);
    return entry && api.placeOf(entry);
  }
}
