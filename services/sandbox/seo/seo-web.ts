import type { FastifyReply } from 'fastify';
import { closeConnection, neverAnswer, type SandboxExample, type SandboxUpstream } from '../sandbox-upstream';
import { MAGIC_NAMES, seoExample } from './seo-magic';

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

/** Hosts that do something else than show a page. */
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

/** A small web. Every host lies below `/<scheme>/<host>`. Hosts without a definition of their own show an ordinary page. */
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

/** One page of the sandbox's web. */
interface SandboxPage {
  readonly title: string;
  readonly head?: string;
  readonly body: string;
}

const FILLER =
  'This page is part of a small web that exists for tests and demonstrations only. Its pages say the same thing every time they are asked. ' +
  'They are long enough to be read as ordinary articles, with a few links among many words, a picture in the corner of the window, and a way ' +
  'to write to the people behind it. Nothing on them is true, and nothing on them is for sale. ';

/** The navigation around the content of well-kept sites. */
const AROUND = '<nav><a href="/">Home</a> <a href="/about">About</a></nav>';
const FOOT = '<footer><a href="mailto:editor@web.example">Write to us</a> <a href="https://standards.example/html">Valid HTML</a></footer>';
const ICON = '<link rel="icon" href="/icon.svg">';

function article(title: string, content: string, head = ''): SandboxPage {
  return { title, head: ICON + head, body: `${AROUND}<main><h1>${title}</h1><p>${FILLER}</p>${content}</main>${FOOT}` };
}

/** A paragraph about the host at the end of a path such as `/links-to/shop.example`; nothing for other paths. */
function about(path: string, write: (host: string) => string): string {
  const last = path.split('/').at(-1) ?? '';
  return /^[a-z0-9.-]+\.[a-z0-9-]+$/i.test(last) ? `<p>${write(last)}</p>` : '';
}

function hiddenLinks(): string {
  return Array.from({ length: 120 }, (_, index) => `<a href="https://pills-${index}.example/">buy cheap pills ${index}</a>`).join(' ');
}

type Site = (path: string) => SandboxPage;

/** Sites with a definition of their own. */
const SITES: Readonly<Record<string, Site>> = {
  'blog.example': (path) =>
    article(
      'A review',
      about(path, (host) => `We like <a href="https://${host}/">what ${host} does</a>.`),
      `<link rel="canonical" href="https://blog.example${path}">`,
    ),
  'forum.example': (path) =>
    article(
      'A thread',
      about(path, (host) => `Look at <a rel="ugc nofollow" href="https://${host}/">this</a>.`),
      '<meta name="robots" content="index">',
    ),
  'ads.example': (path) =>
    article(
      'Our partners',
      about(path, (host) => `<a rel="sponsored" href="https://${host}/"><img src="/p.png" alt="Our partner"></a>`),
      '<link rel="canonical" href="https://ads.example/partners">',
    ),
  'old.example': () => article('An old post', '<p>The link that was here is gone.</p>'),
  'footer.example': () => ({
    title: 'In the footer',
    body: `<h1>Nothing much</h1><p>${FILLER}</p><footer><a href="https://shop.example/">buy cheap shoes</a></footer>`,
  }),
  'casino-bonus-slots-777.top': (path) => ({
    title: 'Online casino bonus',
    head: '<meta name="robots" content="noindex">',
    body: `${about(path, (host) => `<a href="https://${host}/">best price slots</a>`)}<div style="display:none">${hiddenLinks()}</div>`,
  }),
};

/** How the websites of the sandbox's businesses show their email addresses. Businesses without a line here show none. */
const CONTENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'business-01': {
    '/': `<img src="/logo@2x.png" alt=""> Write to <a href="mailto:Hello@business-01.example.com?subject=Appointment">us</a>
      or to billing@business-01.example.com; this site was made by studio@agency.example.net.`,
  },
  'business-02': {
    '/': '<p>Open every day.</p><a href="/about-us">Who we are</a> <a href="/get-in-touch">Contact</a>',
    '/get-in-touch': '<address>desk@business-02.example.com</address>',
  },
  'business-03': { '/': '<p>Mail: orchid.dental@gmail.com</p>' },
  'business-05': { '/': '<p style="display:none">trap@business-05.example.com</p><!-- office@business-05.example.com -->' },
  'business-06': { '/': '<p>info [at] business-06 [dot] example.com</p>' },
};

/** Additional content of a business's page; undefined for other hosts. */
function businessContent(host: string, path: string): string | undefined {
  const [, name] = /^www\.(business-\d\d)\.example\.com$/.exec(host) ?? [];
  return name === undefined ? undefined : (CONTENTS[name]?.[path] ?? '<p>We look forward to your visit.</p>');
}

/** An ordinary page for any other host, with a link if the path asks for one. */
function ordinaryPage(host: string, path: string): SandboxPage {
  const link = path.startsWith('/links-to/') ? about(path, (each) => `See <a href="https://${each}/">${each}</a>.`) : '';
  const content = businessContent(host, path) ?? '';
  return article(`Welcome to ${host}`, link + content, `<meta name="description" content="About ${host}">`);
}

function pageAt(host: string, path: string): string {
  const { title, head = '', body } = SITES[host]?.(path) ?? ordinaryPage(host, path);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>${head}</head><body>${body}</body></html>`;
}
