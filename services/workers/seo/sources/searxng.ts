import { z } from 'zod';
import { type KeyMode } from '../../../../plugins/core/ports';
import { askJson, type JsonClient } from './ask-json';
import { type SearchEngine } from './search-engine';
import { SourceFailed } from './source-failed';

const answer = z.object({
  results: z.array(z.object({ url: z.string(), title: z.string().nullish(), content: z.string().nullish(), engine: z.string().nullish() })),
  unresponsive_engines: z.array(z.unknown()).optional(),
});

/** A SearXNG instance. Instances that do not enable the json format answer 403. */
export function createSearxng(client: JsonClient, mode: KeyMode): SearchEngine {
  return {
    name: 'searxng',
    search: async ({ query, country, language, page, num }, signal) => {
      const region = language.includes('-') ? language : `${language}-${country}`;
      const request = { mode, path: '/search', query: { q: query, format: 'json', pageno: page, language: region }, signal };
      const { results, unresponsive_engines: silent = [] } = await askJson(client, request, answer);
      // No result because nobody searched is a failure, not an empty answer.
      if (results.length === 0 && silent.length > 0) throw new SourceFailed('upstream_error');
      return results.slice(0, num).map(({ url, title, content, engine }) => ({
        title: title ?? '',
        url,
        snippet: content ?? '',
        engine: engine ? `searxng:${engine}` : 'searxng',
      }));
    },
  };
}
