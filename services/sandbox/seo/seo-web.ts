import { type FastifyReply } from 'fastify';
import { closeConnection, neverAnswer, type SandboxExample, type SandboxUpstream } from '../sandbox-upstream';
import { MAGIC_NAMES, seoExample } from './seo-magic';
import { pageAt } from './seo-web-pages';

const index = (route: string, yields: string): SandboxExample => ({ ...seoExample(route, 'success', {}, yields), method: 'GET' });

const examples: readonly SandboxExample[] = [
  index('', '200, the endpoints'),
  index('/health', '200, the worker serves'),
  seoExample(
    '/backlinks',
    'success',
    { target: 'shop.example', limit: 10 },
    '200, ten pages: verified, lost, blocked and unreachable ones',
  ),
  seoExample(
    '/backlinks',
    'success_candidates',
    { target: 'https://shop.example/', limit: 2, candidates: ['https://blog.example/links-to/shop.example', 'https://old.example/post'] },
    '200, the first is verified, the second lost',
  ),
  seoExample('/backlinks', 'upstream_error', { target: MAGIC_NAMES.failing }, '502, every search engine fails'),
  seoExample('/backlinks', 'timeout', { target: MAGIC_NAMES.silent }, '504, no search engine answers'),
  seoExample('/link_pyramid', 'success', { target: 'shop.example' }, '200, links in every tier'),
  seoExample(
    '/link_pyramid',
    'success_links',
    { links: ['https://blog.example/', 'https://down.example/', 'http://casino-bonus-slots-777.top/'] },
    '200, one link in every tier',
  ),
  seoExample('/link_pyramid', 'upstream_error', { target: MAGIC_NAMES.failing }, '502, every search engine fails'),
  seoExample('/link_pyramid', 'timeout', { target: MAGIC_NAMES.silent }, '504, no search engine answers'),
  seoExample('/spam', 'success', { domain: 'casino-bonus-slots-777.top' }, '200, tier spam'),
  seoExample('/spam', 'success_clean', { url: 'https://blog.example/' }, '200, tier clean'),
  seoExample(
    '/spam',
    'success_backlink',
    { url: 'http://footer.example/page', target: 'shop.example' },
    '200, tier caution, sitewide_link hit',
  ),
  seoExample(
    '/backlinks',
    'pages_unreachable',
    { target: 'shop.example', limit: 1, candidates: ['https://down.example/'] },
    '502, the only page cannot be reached',
  ),
  seoExample('/spam', 'upstream_error', { domain: MAGIC_NAMES.failing }, '502, the site and every source fail'),
  seoExample('/spam', 'timeout', { domain: MAGIC_NAMES.silent }, '504, neither the site nor a source answers'),
  seoExample('/spam', 'redirected', { url: 'https://moved.example/' }, '200, cross_domain_redirect hit'),
  seoExample('/spam', 'robots_forbid', { url: 'https://private.example/' }, '200, tier caution, score null: robots.txt forbids a look'),
  seoExample(
    '/spam',
    'address_refused',
    { url: 'https://inward.example/' },
    '200, tier caution, score null: it redirects to a loopback address',
  ),
  seoExample('/spam', 'unreachable', { url: 'https://down.example/' }, '200, tier caution, score null: the server closes the connection'),
  seoExample('/spam', 'page_timeout', { url: 'https://slow.example/' }, '200, tier caution, score null: the server never answers'),
];

/** What hosts do instead of showing a page. */
const CONDUCT: Readonly<Record<string, (reply: FastifyReply) => unknown>> = {
  'down.example': closeConnection,
  [MAGIC_NAMES.failing]: closeConnection,
  'slow.example': neverAnswer,
  [MAGIC_NAMES.silent]: neverAnswer,
  'gone.example': (reply) => reply.code(404).type('text/html').send('<title>Not found</title>'),
  'members.example': (reply) => reply.code(403).type('text/html').send('<title>Members only</title>'),
  'moved.example': (reply) => reply.code(301).header('location', 'https://elsewhere.example/').send(),
  'inward.example': (reply) => reply.code(302).header('location', 'http://127.0.0.1/').send(),
  'looping.example': (reply) => reply.code(302).header('location', 'https://looping.example/again').send(),
  'binary.example': (reply) => reply.type('application/pdf').send('%PDF-1.7'),
  'header.example': (reply) =>
    reply.type('text/html').header('x-robots-tag', 'nofollow').send('<title>A page</title><a href="https://shop.example/">shop</a>'),
};

function robotsOf(host: string, reply: FastifyReply): unknown {
  if (host === 'down.example' || host === MAGIC_NAMES.failing) return closeConnection(reply);
  if (host === MAGIC_NAMES.silent) return neverAnswer(reply);
  return reply.type('text/plain').send(`User-agent: *\nDisallow: ${host === 'private.example' ? '/' : '/private/'}\n`);
}

/** A small web: every host lies below `/<scheme>/<host>`; hosts without a character of their own show an ordinary page. */
export function createSeoWeb(): SandboxUpstream {
  return {
    name: 'seo-web',
    examples,
    routes(app) {
      app.get<{ Params: { scheme: string; host: string; '*': string } }>('/:scheme/:host/*', (request, reply) => {
        const { host, '*': rest } = request.params;
        if (rest === 'robots.txt') return robotsOf(host, reply);
        const conduct = CONDUCT[host];
        if (conduct) return conduct(reply);
        if (rest === 'favicon.ico') return reply.code(404).send();
        return reply.type('text/html; charset=utf-8').send(pageAt(host, `/${rest}`));
      });
    },
  };
}
