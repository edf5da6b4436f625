import { z } from 'zod';
import { type KeyMode } from '../../../../plugins/core/ports';
import { askJson, type JsonClient } from './ask-json';
import { type SearchEngine } from './search-engine';

const answer = z.object({
  web: z.object({ results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().nullish() })) }).nullish(),
});

/** Brave marks the words of the query in titles and descriptions. */
function withoutMarks(text: string): string {
  return text.replace(/<\/?strong>/g, '');
}

/** The most that it gives at a time; every request is paid for. */
const PAGE_SIZE = 20;
/** `offset` is 9 at most. */
const MOST_PAGES = 10;

export interface BraveOptions {
  readonly client: JsonClient;
  readonly mode: KeyMode;
  readonly token: string;
}

/** Brave Search. `offset` counts pages from 0; `web` is absent when there is no result. */
export function createBrave({ client, mode, token }: BraveOptions): SearchEngine {
  return {
    name: 'brave',
    pageSize: PAGE_SIZE,
    hasFixedPages: true,
    mostPages: MOST_PAGES,
    searchPage: async ({ query, country, language }, page, signal) => {
      const parameters = { q: query, count: PAGE_SIZE, offset: page - 1, country, search_lang: language.split('-')[0] };
      const headers = { 'X-Subscription-Token': token };
      // Every request is paid for: no second try.
      const request = { mode, path: '/res/v1/web/search', query: parameters, headers, signal, idempotent: false };
      const { web } = await askJson(client, request, answer);
      return (web?.results ?? []).map(({ title, url, description }) => ({
        title: withoutMarks(title),
        url,
        snippet: withoutMarks(description ?? ''),
        engine: 'brave',
      }));
    },
  };
}
