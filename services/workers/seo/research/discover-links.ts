import { hostOf, isSameSite } from '../../../kit/pages/page-url';
import { type Research } from './research';
import { searchEverywhere } from './search';
import { type Target } from './target';

/** Results asked for at a time. */
const PER_PAGE = 20;
/** Pages of results that are worth a look. */
const MOST_PAGES = 3;

/**
 * Pages of other sites that mention a target: candidates, since a mention need not be a link.
 * @throws ServiceError 503 when no engine is configured
 */
export async function discoverLinks(research: Research, { host, domain }: Target, limit: number): Promise<URL[]> {
  const found = new Map<string, URL>();
  for (let page = 1; page <= MOST_PAGES && found.size < limit; page++) {
    const query = { query: `"${host.replace(/^www\./, '')}" -site:${domain}`, country: 'US', language: 'en', page, num: PER_PAGE };
    const before = found.size;
    for (const { parsed } of await searchEverywhere(research, query)) {
      if (!isSameSite(hostOf(parsed), host)) found.set(parsed.href, parsed);
    }
    if (found.size === before) break;
  }
  return [...found.values()].slice(0, limit);
}
