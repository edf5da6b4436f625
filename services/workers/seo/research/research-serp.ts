import { hostOf, registrableDomain } from '../../../kit/pages/page-url';
import { type SearchQuery } from '../sources/search-engine';
import { type Research } from './research';
import { searchEverywhere } from './search';

/** Organic results of every configured engine, merged. */
export async function researchSerp(research: Research, query: SearchQuery) {
  const found = await searchEverywhere(research, query);
  research.log.requireProvider();
  const before = (query.page - 1) * query.num;
  return {
    query: query.query,
    country: query.country,
    language: query.language,
    page: query.page,
    results: found.map(({ title, url, snippet, engine, parsed }, index) => ({
      position: before + index + 1,
      title,
      url,
      domain: registrableDomain(hostOf(parsed)),
      snippet,
      engine,
    })),
  };
}
