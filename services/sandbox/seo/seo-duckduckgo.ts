import { type SandboxUpstream } from '../sandbox-upstream';
import { isUnknown, MAGIC_NAMES, playMagic, seoExample } from './seo-magic';

const ENDINGS = ['price', 'online', 'near me', 'for beginners', 'review', 'meaning', 'vs', 'list'];

const examples = [
  seoExample('/keywords', 'success', { keyword: 'running shoes', country: 'IN', language: 'en', limit: 10 }, '200, ten suggestions'),
  seoExample('/keywords', 'success_expanded', { keyword: 'running shoes', limit: 100, expand: true }, '200, a hundred suggestions'),
  seoExample('/keywords', 'no_suggestions', { keyword: MAGIC_NAMES.unknown }, '200, an empty list'),
  seoExample('/keywords', 'partial', { keyword: MAGIC_NAMES.partial }, '200, google_suggestions with ok false'),
  seoExample('/keywords', 'upstream_error', { keyword: MAGIC_NAMES.failing }, '502, both sources fail'),
  seoExample('/keywords', 'timeout', { keyword: MAGIC_NAMES.silent }, '504, no source answers'),
];

/** DuckDuckGo's suggestions. */
export function createSeoDuckduckgo(): SandboxUpstream {
  return {
    name: 'seo-duckduckgo',
    examples,
    routes(app) {
      app.get<{ Querystring: Record<string, string> }>('/ac/', (request, reply) => {
        const { q: query = '', type } = request.query;
        if (playMagic(query, reply)) return reply;
        const found = isUnknown(query) ? [] : ENDINGS.map((ending) => `${query} ${ending}`);
        return type === 'list' ? [query, found] : found.map((phrase) => ({ phrase }));
      });
    },
  };
}
