import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ServiceError } from '../../kit/errors';
import { isAppPage } from '../contract/app-pages';
import { ownAddress } from './own-origin';
import { contentPolicy } from './security-headers';

const INDEX = 'index.html';
/** Names of the files below it change with their content. */
const HASHED = '/assets/';
const FOR_EVER = 'public, max-age=31536000, immutable';

const pathOf = (request: FastifyRequest): string => (request.raw.url ?? '/').split('?')[0] ?? '/';

/** True for the address of a page, not of a file or the API. */
export function isPage(request: FastifyRequest): boolean {
  const path = pathOf(request);
  return ['GET', 'HEAD'].includes(request.method) && !path.startsWith('/api/') && !/\.[a-z0-9]+$/i.test(path);
}

/** Sends the single page, in which the app finds its route. */
export type SendPage = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

interface WebOptions {
  readonly root: string;
  readonly url: string;
  /** Puts the installation's present brand into the head of the page. */
  readonly dress: (html: string) => string;
  /** Answers where the application has no page either; unless given it does so itself. */
  readonly sendMissing?: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
}

/**
 * Serves the built pages: files as they are, the single page for every other address.
 * @param root folder of the built pages; when it has none, addresses of pages answer 503 until they are built
 * @param url the dashboard's own URL
 * @param dress puts the brand into the head of the page
 */
export async function serveWeb(app: FastifyInstance, { root, url, dress, sendMissing }: WebOptions): Promise<SendPage> {
  const built = existsSync(join(root, INDEX));
  const html = built ? readFileSync(join(root, INDEX), 'utf8') : '';
  if (built) {
    await app.register(fastifyStatic, {
      root,
      index: false,
      redirect: false,
      cacheControl: false,
      preCompressed: true,
      setHeaders: (reply, path) => {
        const isHashed = path.slice(root.length).replaceAll('\\', '/').startsWith(HASHED);
        void reply.header('Cache-Control', isHashed ? FOR_EVER : 'no-cache');
      },
    });
  }
  const sendPage: SendPage = (request, reply) => {
    const elsewhere = ownAddress(request, url);
    if (elsewhere !== undefined) return reply.redirect(elsewhere, 307);
    if (!built) throw new ServiceError('service_not_ready', { detail: 'The pages of the dashboard are not built.' });
    const nonce = randomBytes(16).toString('base64');
    return reply
      .type('text/html; charset=utf-8')
      .headers({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': contentPolicy(nonce) })
      .send(dress(html).replace('</title>', `</title><meta name="style-nonce" content="${nonce}" />`));
  };
  app.setNotFoundHandler((request, reply) => {
    if (!isPage(request)) throw new ServiceError('route_unknown');
    return sendMissing && !isAppPage(pathOf(request)) ? sendMissing(request, reply) : sendPage(request, reply);
  });
  return sendPage;
}
