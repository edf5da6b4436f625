import { hostOf, registrableDomain } from '../../../kit/pages/page-url';
import { type EngineQuery } from '../sources/search-engine';
import { type Research } from './research';
import { MergedSearch } from './search';

export interface SerpQuery extends EngineQuery {
  /** From 1. */
  readonly page: number;
  /** Results of a page, at most 20. */
  readonly num: number;
}

/** Name of the method that merges several engines into one order; it is part of the response. */
const MERGE = 'best_rank';

/** One page of the organic results of every configured engine, with each engine's own ranks. */
export async function researchSerp(research: Research, { page, num, ...search }: SerpQuery) {
  const { query, country, language, location = null, coordinates = null, device = null } = search;
  const merged = new MergedSearch(research, search);
  const found = await merged.first(page * num);
  research.log.requireProvider();
  const answering = research.sources.engines.filter(({ name }) => research.log.failureOf(name) === undefined);
  return {
    query,
    country,
    language,
    location,
    coordinates,
    device,
    targeting: research.sources.engines.map((engine) => ({ source: engine.name, ...engine.targetingOf(search) })),
    page,
    merge: answering.length > 1 ? MERGE : null,
    results: found.slice((page - 1) * num).map(({ position, ranks, title, url, snippet, engine, parsed }) => ({
      position,
      ranks,
      title,
      url,
      domain: registrableDomain(hostOf(parsed)),
      snippet,
      engine,
    })),
    features: merged.features(),
  };
}
