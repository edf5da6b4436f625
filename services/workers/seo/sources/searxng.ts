import { z } from 'zod';
import { type KeyMode } from '../../../../plugins/core/ports';
import { askJson, type JsonClient } from './ask-json';
import { type SearchEngine, type EngineQuery } from './search-engine';
import { readFeatures } from './serp-features';
import { SourceFailed } from './source-failed';

const answer = z.looseObject({
  results: z.array(z.object({ url: z.string(), title: z.string().nullish(), content: z.string().nullish(), engine: z.string().nullish() })),
  unresponsive_engines: z.array(z.unknown()).optional(),
});

/** Page size of most engines behind an instance. The instance accepts no count, and shows the results of all engines. */
const PAGE_SIZE = 10;
/** Engines serve no further pages, or begin to show captchas. */
const MAX_PAGES = 20;

/** The engines behind an instance accept only a language and its region. */
function localeOf({ country, language }: EngineQuery): string {
  return language.includes('-') ? language : `${language}-${country}`;
}

/** A SearXNG instance. Instances without the json format enabled respond with 403. */
export function createSearxng(client: JsonClient, mode: KeyMode): SearchEngine {
  return {
    name: 'searxng',
    pageSize: PAGE_SIZE,
    hasFixedPages: false,
    mostPages: MAX_PAGES,
    targetingOf: (query) => ({
      country: query.language.includes('-') ? null : query.country,
      language: localeOf(query),
      location: null,
      coordinates: null,
      device: null,
    }),
    searchPage: async (query, page, signal) => {
      const parameters = { q: query.query, format: 'json', pageno: page, language: localeOf(query) };
      const request = { mode, path: '/search', query: parameters, signal };
      const { results, unresponsive_engines: silent = [], ...more } = await askJson(client, request, answer);
      // An empty result because no engine searched is a failure.
      if (results.length === 0 && silent.length > 0) throw new SourceFailed('upstream_error');
      return {
        results: results.map(({ url, title, content, engine }) => ({
          title: title ?? '',
          url,
          snippet: content ?? '',
          engine: engine ? `searxng:${engine}` : 'searxng',
        })),
        features: readFeatures('searxng', more),
      };
    },
  };
}
