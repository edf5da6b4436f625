import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { explainRequest } from '../../selling/requests/explain';
import { findRequest } from '../../selling/requests/find-request';
import { ownAddress } from '../http/own-origin';
import { sendDocument } from '../http/serve-document';
import { accentSheet } from '../brand/accent';
import { writeFeed } from './changelog-page';
import { stepOf } from './pricing-page';
import { type Explained } from './explain-page';
import { type ReferencePart } from './operation-groups';
import { PageShelf, type ShelfOptions } from './page-shelf';
import { type PageName } from './render-page';
import { searchOf } from './search-page';
import { type SellersFolder, withWords } from './sellers-folder';
import { writeLlms, writeRobots, writeSitemap } from './site-files';
import { serveStatusMail } from './serve-status-mail';
import { writeStatusFeed, writeStatusJson } from './status-page';
import { isOffered } from '../brand/wording';
import { isDatabaseAway } from '../http/answer-error';
import { type DashboardDeps } from '../http/dashboard-deps';

interface PublicPagesOptions extends ShelfOptions {
  /** Sends the app, which has the first page of a signed-in reader. */
  readonly sendApp: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
  /** Signs links in mail, and keys the names under which callers are counted. */
  readonly secret: string;
}

export interface PublicPages {
  /** Sends a full page that says that there is nothing at an address. */
  readonly sendMissing: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  /** Sends a full page that says that a page could not be shown. The response's status and headers are set already. */
  readonly sendFailure: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
}

const HTML = 'text/html; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
const XML = 'application/xml; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const ATOM = 'application/atom+xml; charset=utf-8';

/** How a session's cookie begins, over http and over https. The session may have ended: then the app leads to sign-in. */
const SESSION_COOKIE = /(?:^|;\s*)(?:__Secure-)?tollgate\.session_token=[^;\s]/;

/** Anything but a number is a page that does not exist. */
const pageOf = (text: string): number => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0);

function isSignedIn({ headers }: FastifyRequest): boolean {
  return SESSION_COOKIE.test(headers.cookie ?? '');
}

/** The pages and files for readers without an account: readable without a script, and by machines. */
export function servePublicPages(app: FastifyInstance, options: PublicPagesOptions): PublicPages {
  const { url, deps, sendApp } = options;
  const folder = withWords(options.folder, { gateway: deps.gatewayUrl.replace(/\/$/, ''), dashboard: url });
  const shelf = new PageShelf({ ...options, folder });
  const headers = { 'Content-Type': HTML, 'Cache-Control': 'no-cache', Vary: 'Cookie' };
  const send = async (request: FastifyRequest, reply: FastifyReply, page: PageName): Promise<FastifyReply> => {
    const elsewhere = ownAddress(request, url);
    if (elsewhere !== undefined) return reply.redirect(elsewhere, 307);
    return sendDocument(request, reply, { document: await shelf.page(page, isSignedIn(request)), headers });
  };
  const sendMissing: PublicPages['sendMissing'] = (request, reply) => send(request, reply.code(404), { kind: 'missing' });

  const sendFailure: PublicPages['sendFailure'] = async (request, reply) => {
    const failure = { status: reply.statusCode, requestId: request.id };
    return reply.headers({ ...headers, 'Cache-Control': 'no-store' }).send(await shelf.failure(failure, isSignedIn(request)));
  };

  app.get('/', async (request, reply) =>
    isSignedIn(request) ? sendApp(request, reply.header('Vary', 'Cookie')) : send(request, reply, { kind: 'landing' }),
  );
  // An operation has an anchor on its product's page. Old links and other pages know it by name alone.
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
  for (const kind of ['status', 'products', 'docs'] as const) app.get(`/${kind}`, (request, reply) => send(request, reply, { kind }));
  app.get<{ Params: { slug: string } }>('/docs/:slug', (request, reply) => {
    const { slug } = request.params;
    return folder.pages.docs.some((doc) => doc.slug === slug) ? send(request, reply, { kind: 'doc', slug }) : sendMissing(request, reply);
  });
  // A product's name has no dot.
  app.get<{ Params: { product: string } }>('/reference/:product.md', async (request, reply) => {
    const product = (await deps.catalogue()).find(request.params.product);
    if (!product || !isOffered(product)) return sendMissing(request, reply);
    const ofFile = { 'Content-Type': MARKDOWN, 'Cache-Control': 'public, no-cache' };
    return sendDocument(request, reply, { document: await shelf.markdown(product), headers: ofFile });
  });
  app.get<{ Params: { product: string } }>('/products/:product', async (request, reply) => {
    const product = (await deps.catalogue()).find(request.params.product);
    return product && isOffered(product) ? send(request, reply, { kind: 'offer', product }) : sendMissing(request, reply);
  });
  const sendPart = async (request: FastifyRequest, reply: FastifyReply, id: string, part: ReferencePart): Promise<FastifyReply> => {
    const product = (await deps.catalogue()).find(id);
    const text = product && isOffered(product) ? await shelf.part(product, part, isSignedIn(request)) : undefined;
    return text === undefined ? sendMissing(request, reply) : reply.headers(headers).send(text);
  };
  app.get<{ Params: { product: string }; Querystring: { tag?: unknown; page?: unknown } }>(
    '/reference/:product',
    async (request, reply) => {
      const { tag, page } = request.query;
      const part = { ...(typeof tag === 'string' && { tag }), ...(typeof page === 'string' && { page: pageOf(page) }) };
      if (Object.keys(part).length > 0) return sendPart(request, reply, request.params.product, part);
      const product = (await deps.catalogue()).find(request.params.product);
      return product && isOffered(product) ? send(request, reply, { kind: 'product', product }) : sendMissing(request, reply);
    },
  );
  // Every operation has its own page. Links lead there if the page of its product would be too long.
  app.get<{ Params: { product: string; operation: string } }>('/reference/:product/:operation', (request, reply) =>
    sendPart(request, reply, request.params.product, { operation: request.params.operation }),
  );
  app.get<{ Params: { product: string; operation: string } }>('/reference/:product/:operation.md', async (request, reply) => {
    const product = (await deps.catalogue()).find(request.params.product);
    const text = product && isOffered(product) ? await shelf.operationMarkdown(product, request.params.operation) : undefined;
    if (text !== undefined) return reply.headers({ 'Content-Type': MARKDOWN, 'Cache-Control': 'public, no-cache' }).send(text);
    return sendPart(request, reply, request.params.product, { operation: `${request.params.operation}.md` });
  });
  app.get<{ Querystring: { q?: unknown } }>('/search', async (request, reply) =>
    reply.headers(headers).send(await shelf.search(searchOf(request.query.q), isSignedIn(request))),
  );
  // The addresses in refusals lead here, also callers without an account.
  app.get<{ Querystring: { request?: unknown } }>('/explain', async (request, reply) => {
    const explained = await findExplained(deps, request.query.request);
    const isAway = explained.kind === 'away';
    // Without a database, the app would have nothing to show.
    if (isSignedIn(request) && !isAway) return sendApp(request, reply.header('Vary', 'Cookie'));
    const page = await shelf.explained(explained, isSignedIn(request));
    return reply
      .code(isAway ? 503 : 200)
      .headers({ ...headers, 'Cache-Control': 'no-store' })
      .send(page);
  });
  app.get('/changelog', (request, reply) =>
    folder.pages.changelog ? send(request, reply, { kind: 'changelog' }) : sendMissing(request, reply),
  );
  if (!deps.hasOutbox) serveStatusMail(app, { deps, url, secret: options.secret, shelf, isSignedIn, sendFailure });
  serveFiles(app, shelf, { ...options, folder });
  serveFeed(app, shelf, { folder, url, sendMissing });
  serveBrand(app, { folder, sendMissing });
  return { sendMissing, sendFailure };
}

/** The form of the ids that gateways give to requests; nothing else is worth a query. */
const REQUEST_ID = /^[\w-]{16,100}$/;

/**
 * What a reader without a session may know about a request.
 * @param given the id as typed
 */
async function findExplained({ db, clock }: Pick<DashboardDeps, 'db' | 'clock'>, given: unknown): Promise<Explained> {
  const requestId = typeof given === 'string' ? given.trim().toLowerCase() : '';
  if (requestId === '') return { kind: 'asked', requestId };
  if (!REQUEST_ID.test(requestId)) return { kind: 'hidden', requestId: requestId.slice(0, 100) };
  try {
    const request = await findRequest(db, { requestId, isStranger: true });
    if (!request) return { kind: 'hidden', requestId };
    return { kind: 'known', requestId, explanation: explainRequest(request, { reader: 'customer', nowMs: clock.now() }) };
  } catch (error) {
    if (isDatabaseAway(error)) return { kind: 'away', requestId };
    throw error;
  }
}

function serveFiles(app: FastifyInstance, shelf: PageShelf, { deps, folder, url }: ShelfOptions): void {
  const files = [
    ['/sitemap.xml', XML, writeSitemap],
    ['/robots.txt', TEXT, writeRobots],
    ['/llms.txt', TEXT, writeLlms],
  ] as const;
  for (const [path, contentType, write] of files) {
    app.get(path, async (request, reply) => {
      const document = await shelf.find(path, async () => {
        const { products } = await deps.catalogue();
        const { brand, pages } = folder;
        return write({ name: brand.name, url, gatewayUrl: deps.gatewayUrl.replace(/\/$/, ''), products, pages });
      });
      return sendDocument(request, reply, { document, headers: { 'Content-Type': contentType, 'Cache-Control': 'public, no-cache' } });
    });
  }
  const ofStatus = [
    ['/status.json', JSON_TYPE, writeStatusJson],
    ['/status.xml', ATOM, (products, content) => writeStatusFeed(products, content, { name: folder.brand.name, url })],
  ] as const satisfies readonly (readonly [string, string, Parameters<PageShelf['statusFile']>[1]])[];
  for (const [path, contentType, write] of ofStatus) {
    app.get(path, async (request, reply) => {
      const headers = { 'Content-Type': contentType, 'Cache-Control': 'public, no-cache' };
      return sendDocument(request, reply, { document: await shelf.statusFile(path, write), headers });
    });
  }
}

/** A picture that an operator chose. Even if it is opened by itself, a script in it does not run. */
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

interface ServedFolder extends Pick<PublicPages, 'sendMissing'> {
  readonly folder: SellersFolder;
}

function serveFeed(app: FastifyInstance, shelf: PageShelf, { folder, url, sendMissing }: ServedFolder & { readonly url: string }): void {
  const headers = { 'Content-Type': ATOM, 'Cache-Control': 'public, no-cache' };
  const read = (): Promise<string> => {
    const { brand, pages } = folder;
    return Promise.resolve(pages.changelog ? writeFeed(pages.changelog, { name: brand.name, url }) : '');
  };
  app.get('/changelog.xml', async (request, reply) =>
    folder.pages.changelog
      ? sendDocument(request, reply, { document: await shelf.find('/changelog.xml', read), headers })
      : sendMissing(request, reply),
  );
}

function serveBrand(app: FastifyInstance, { folder, sendMissing }: ServedFolder): void {
  app.get('/brand.css', (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('Cache-Control', 'no-cache').send(accentSheet(folder.brand.colour)),
  );
  for (const [path, kind] of [
    ['/brand/logo', 'logo'],
    ['/brand/logo-dark', 'darkLogo'],
  ] as const) {
    app.get(path, (request, reply) => {
      const picture = folder.brand[kind];
      if (!picture) return sendMissing(request, reply);
      const { bytes, contentType } = picture;
      return reply
        .headers({ 'Content-Type': contentType, 'Cache-Control': 'no-cache', 'Content-Security-Policy': PICTURE_POLICY })
        .send(bytes);
    });
  }
}
