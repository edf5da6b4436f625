import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { windowsAt } from '../../../../plugins/core/access/quota';
import { listOutages } from '../../../../plugins/stores/postgres/outages/list-outages';
import { readAvailability } from '../../../../plugins/stores/postgres/outages/read-product-answers';
import { readCatalogueRevision } from '../../../../plugins/stores/postgres/catalogue/read-catalogue';
import { type DashboardDeps } from '../http/dashboard-deps';
import { ownAddress } from '../http/own-origin';
import { askSeldom, type DocumentSource, keepDocument, type KeptDocument, sendDocument } from '../http/serve-document';
import { accentSheet } from './accent';
import { type Brand } from './brand';
import { stepOf } from './choose-plan';
import { NOTHING_DESCRIBED, placesOf, readOperations } from './operations';
import { type PageTools } from './page-frame';
import { type PageName, renderPage } from './render-page';
import { STATUS_DAYS, type StatusContent } from './status-page';
import { writeLlms, writeRobots, writeSitemap } from './site-files';
import { isOffered } from './wording';

export interface PublicPagesOptions {
  readonly deps: DashboardDeps;
  readonly brand: Brand;
  /** The dashboard's own URL. */
  readonly url: string;
  /** The description of the API. */
  readonly document: DocumentSource;
  /** Whether calls can be tried out without an account. */
  readonly canTry: boolean;
  /** Sends the app, which has the first page of a reader who is signed in. */
  readonly sendApp: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
}

const HTML = 'text/html; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
const XML = 'application/xml; charset=utf-8';

/** What a session's cookie begins with, over http and over https. It may have ended: then the app leads to sign-in. */
const SESSION_COOKIE = /(?:^|;\s*)(?:__Secure-)?tollgate\.session_token=[^;\s]/;

function isSignedIn({ headers }: FastifyRequest): boolean {
  return SESSION_COOKIE.test(headers.cookie ?? '');
}

const STATUS_MS = 60_000;

async function readStatus({ db, clock, timeZone }: DashboardDeps): Promise<StatusContent> {
  const { day: today } = windowsAt(clock.now() / 1000, timeZone);
  const fromDay = new Date(Date.parse(today) - (STATUS_DAYS - 1) * 86_400_000).toISOString().slice(0, 10);
  const [days, outages] = await Promise.all([readAvailability(db, { fromDay, toDay: today }), listOutages(db)]);
  return { days, outages, today, timeZone };
}

/** Makes each text once for each revision of the catalogue. */
class PageShelf {
  private readonly kept = new Map<string, () => Promise<KeptDocument>>();
  private readonly revision: () => Promise<string>;

  constructor(private readonly options: PublicPagesOptions) {
    const { db, clock, liveSources } = options.deps;
    this.revision = askSeldom(async () => `${await readCatalogueRevision(db)} ${liveSources?.revision() ?? ''}`, clock);
  }

  /** @param name tells apart what differs; the caller keeps the names few */
  find(name: string, read: () => Promise<string>, revision = this.revision): Promise<KeptDocument> {
    const known = this.kept.get(name) ?? keepDocument({ revision, read });
    this.kept.set(name, known);
    return known();
  }

  /** Where it is not built, the first page is without a call to try, and the reference begins with the products alone. */
  private describe({ kind }: PageName): Promise<string | undefined> {
    const { document, deps } = this.options;
    if (kind === 'product' || kind === 'errors') return document.read();
    if (kind !== 'landing' && kind !== 'reference') return Promise.resolve(undefined);
    return document.read().catch((error: unknown) => void deps.log.warn({ err: error }, 'the description of the API is not there'));
  }

  page(page: PageName, isKnown: boolean): Promise<KeptDocument> {
    const { deps, brand, url, canTry } = this.options;
    const tools: PageTools = {
      brand,
      url,
      gatewayUrl: deps.gatewayUrl.replace(/\/$/, ''),
      isSignedIn: isKnown,
      canTry,
      liveSources: deps.liveSources,
    };
    const name = page.kind === 'product' ? `product ${page.product.id}` : page.kind === 'pricing' ? `pricing ${page.step}` : page.kind;
    const read = async (): Promise<string> => {
      const { products } = await deps.catalogue();
      const text = await this.describe(page);
      const current =
        page.kind === 'product' ? { ...page, product: products.find(({ id }) => id === page.product.id) ?? page.product } : page;
      const status = page.kind === 'status' ? await readStatus(deps) : undefined;
      return renderPage(current, tools, { products, document: text === undefined ? NOTHING_DESCRIBED : readOperations(text), status });
    };
    return this.find(`${name} ${isKnown}`, read, page.kind === 'status' ? () => this.minuteOfStatus() : this.revision);
  }

  /** Availability is read once a minute, however many ask. */
  private async minuteOfStatus(): Promise<string> {
    return `${await this.revision()} ${Math.floor(this.options.deps.clock.now() / STATUS_MS)}`;
  }

  /** @returns undefined for an operation that no page shows */
  async placeOf(operation: string): Promise<string | undefined> {
    const { text } = await this.find('places', async () => JSON.stringify(placesOf(readOperations(await this.options.document.read()))));
    return new Map(Object.entries(JSON.parse(text) as Record<string, string>)).get(operation);
  }
}

/** The pages and files for who has no account: readable without a script, and by machines. */
export function servePublicPages(app: FastifyInstance, options: PublicPagesOptions): void {
  const { deps, brand, url, sendApp } = options;
  const shelf = new PageShelf(options);
  const send = async (request: FastifyRequest, reply: FastifyReply, page: PageName): Promise<FastifyReply> => {
    const elsewhere = ownAddress(request, url);
    if (elsewhere !== undefined) return reply.redirect(elsewhere, 307);
    const headers = { 'Content-Type': HTML, 'Cache-Control': 'no-cache', Vary: 'Cookie' };
    return sendDocument(request, reply, { document: await shelf.page(page, isSignedIn(request)), headers });
  };

  app.get('/', async (request, reply) =>
    isSignedIn(request) ? sendApp(request, reply.header('Vary', 'Cookie')) : send(request, reply, { kind: 'landing' }),
  );
  // A single operation has an anchor on its product's page. Its name alone is what old links and other pages know.
  app.get<{ Querystring: { operation?: unknown } }>('/reference', async (request, reply) => {
    const { operation } = request.query;
    if (operation === undefined) return send(request, reply, { kind: 'reference' });
    const place = typeof operation === 'string' ? await shelf.placeOf(operation) : undefined;
    return reply.redirect(place ?? '/reference', 307);
  });
  app.get('/reference/errors', (request, reply) => send(request, reply, { kind: 'errors' }));
  app.get<{ Querystring: { requests?: unknown } }>('/pricing', (request, reply) =>
    send(request, reply, { kind: 'pricing', step: stepOf(request.query.requests) }),
  );
  app.get('/status', (request, reply) => send(request, reply, { kind: 'status' }));
  app.get('/products', (request, reply) => send(request, reply, { kind: 'products' }));
  app.get<{ Params: { product: string } }>('/reference/:product', async (request, reply) => {
    const product = (await deps.catalogue()).find(request.params.product);
    if (product && isOffered(product)) return send(request, reply, { kind: 'product', product });
    return send(request, reply.code(404), { kind: 'missing' });
  });
  serveFiles(app, { shelf, deps, brand, url });
}

function serveFiles(
  app: FastifyInstance,
  { shelf, deps, brand, url }: Pick<PublicPagesOptions, 'deps' | 'brand' | 'url'> & { readonly shelf: PageShelf },
): void {
  const files = [
    ['/sitemap.xml', XML, writeSitemap],
    ['/robots.txt', TEXT, writeRobots],
    ['/llms.txt', TEXT, writeLlms],
  ] as const;
  for (const [path, contentType, write] of files) {
    app.get(path, async (request, reply) => {
      const document = await shelf.find(path, async () => {
        const { products } = await deps.catalogue();
        return write({ name: brand.name, url, gatewayUrl: deps.gatewayUrl.replace(/\/$/, ''), products });
      });
      return sendDocument(request, reply, { document, headers: { 'Content-Type': contentType, 'Cache-Control': 'public, no-cache' } });
    });
  }
  serveBrand(app, brand);
}

/** A picture that an operator chose is a picture: opened by itself, a script in it does not run either. */
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

function serveBrand(app: FastifyInstance, { logo, darkLogo, colour }: Brand): void {
  app.get('/brand.css', (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('Cache-Control', 'no-cache').send(accentSheet(colour)),
  );
  for (const [path, picture] of [
    ['/brand/logo', logo],
    ['/brand/logo-dark', darkLogo],
  ] as const) {
    if (!picture) continue;
    app.get(path, (_request, reply) =>
      reply
        .headers({ 'Content-Type': picture.contentType, 'Cache-Control': 'no-cache', 'Content-Security-Policy': PICTURE_POLICY })
        .send(picture.bytes),
    );
  }
}
