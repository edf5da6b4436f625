import { hostOf, isSameSite } from '../../../kit/pages/page-url';
import { type Research } from './research';
import { MergedSearch } from './search';
import { type Target } from './target';

/** Search results examined in one step. */
const STEP = 20;
/** Maximum results examined. Later results are not worth a look. */
const MAX_RESULTS = 60;

/**
 * Finds pages of other sites that mention a target. They are candidates, since a mention need not be a link.
 * @throws ServiceError 503 when no engine is configured
 */
export async function discoverLinks(research: Research, { host, domain }: Target, limit: number): Promise<URL[]> {
  const found = new Map<string, URL>();
  const search = new MergedSearch(research, { query: `"${host.replace(/^www\./, '')}" -site:${domain}`, country: 'US', language: 'en' });
  for (let most = STEP; most <= MAX_RESULTS && found.size < limit; most += STEP) {
    const before = found.size;
    for (const { parsed } of await search.first(most)) {
      if (!isSameSite(hostOf(parsed), host)) found.set(parsed.href, parsed);
    }
    if (found.size === before) break;
  }
  return [...found.values()].slice(0, limit);
}
