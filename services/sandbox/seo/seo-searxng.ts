import { type SandboxUpstream } from '../sandbox-upstream';
import { isUnknown, MAGIC_NAMES, playMagic, seoExample } from './seo-magic';
import { resultsFor } from './seo-results';

const PER_PAGE = 10;

const ABOUT = 'https://wiki.example/about';

function infoboxOf(query: string): object {
  return {
    infobox: query,
    id: ABOUT,
    content: `${query}, as an encyclopedia of the sandbox describes it.`,
    img_src: null,
    urls: [{ title: 'Encyclopedia', url: ABOUT, official: true }],
    attributes: [{ label: 'Kind', value: 'Invented', entity: 'P31' }],
    engine: 'wikidata',
    engines: ['wikidata'],
  };
}

const examples = [
  seoExample('/serp', 'success', { query: 'running shoes', country: 'IN', language: 'en', num: 10 }, '200, ten results of both engines'),
  seoExample(
    '/serp',
    'from_a_town',
    { query: 'tea', country: 'IN', location: 'Bengaluru', latitude: 12.97, longitude: 77.59, device: 'mobile' },
    '200, snippets of brave name town and device; searxng takes neither (targeting)',
  ),
  seoExample('/serp', 'no_results', { query: MAGIC_NAMES.unknown }, '200, an empty list'),
  seoExample('/serp', 'partial', { query: MAGIC_NAMES.partial }, '200, brave with ok false'),
  seoExample('/serp', 'upstream_error', { query: MAGIC_NAMES.failing }, '502, every engine fails'),
  seoExample('/serp', 'timeout', { query: MAGIC_NAMES.silent }, '504, no engine answers'),
];

/** A SearXNG instance with the json format enabled. */
export function createSeoSearxng(): SandboxUpstream {
  return {
    name: 'seo-searxng',
    examples,
    routes(app) {
      app.get<{ Querystring: Record<string, string> }>('/search', (request, reply) => {
        const { q: query = '', format, pageno = '1' } = request.query;
        if (format !== 'json') return reply.code(403).type('text/html').send('<h1>Forbidden</h1>');
        if (playMagic(query, reply)) return reply;
        const start = (Number(pageno) - 1) * PER_PAGE;
        const results = isUnknown(query) ? [] : resultsFor(query).slice(start, start + PER_PAGE);
        return {
          query,
          number_of_results: 0,
          results: results.map(({ title, url, text }, index) => ({
            url,
            title,
            content: text,
            engine: 'google',
            engines: ['google', 'bing'],
            positions: [index + 1, index + 1],
            score: 4 / (index + 1),
            category: 'general',
          })),
          // The form of newer instances. Older ones send texts.
          answers: isUnknown(query) ? [] : [{ template: 'answer/legacy.html', answer: `About ${query}`, url: ABOUT, engine: 'duckduckgo' }],
          corrections: [],
          infoboxes: isUnknown(query) ? [] : [infoboxOf(query)],
          suggestions: [`${query} online`],
          unresponsive_engines: [],
        };
      });
    },
  };
}
