import { comparableUrl, parseUrl } from '../../../kit/pages/page-url';
import { type SearchQuery, type SearchResult } from '../sources/search-engine';
import { type Research, sourcesMissing } from './research';

export interface FoundPage extends SearchResult {
  readonly parsed: URL;
}

function usable(results: readonly SearchResult[]): FoundPage[] {
  return results.flatMap((result) => {
    const parsed = parseUrl(result.url);
    return parsed?.protocol === 'https:' || parsed?.protocol === 'http:' ? [{ ...result, parsed }] : [];
  });
}

/** The best of each, then the second best of each; a page that several found keeps its best place. */
function interleave(lists: readonly (readonly FoundPage[])[], most: number): FoundPage[] {
  const merged = new Map<string, FoundPage>();
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let place = 0; place < longest; place++) {
    for (const list of lists) {
      const result = list[place];
      if (result && !merged.has(comparableUrl(result.parsed))) merged.set(comparableUrl(result.parsed), result);
    }
  }
  return [...merged.values()].slice(0, most);
}

/**
 * Asks every configured engine and merges what they found. An engine that fails is missing; the log says so.
 * @throws ServiceError 503 when no engine is configured
 */
export async function searchEverywhere(research: Research, query: SearchQuery): Promise<FoundPage[]> {
  const { sources, log, signal } = research;
  if (sources.engines.length === 0) throw sourcesMissing(research, ['searxng', 'brave']);
  const lists = await Promise.all(
    sources.engines.map((engine) => log.ask(engine.name, async () => ({ value: usable(await engine.search(query, signal)) }))),
  );
  return interleave(
    lists.filter((each) => each !== undefined),
    query.num,
  );
}
