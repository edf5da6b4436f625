import { z } from 'zod';
import { type KeyMode } from '../../../../plugins/core/ports';
import { askJson, type JsonClient } from './ask-json';
import { type Device, type SearchEngine, type EngineQuery } from './search-engine';

const answer = z.object({
  web: z.object({ results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().nullish() })) }).nullish(),
});

/** Removes Brave's marks around the words of the query. */
function withoutMarks(text: string): string {
  return text.replace(/<\/?strong>/g, '');
}

/** Maximum results of a request. Every request costs money. */
const PAGE_SIZE = 20;
/** Because `offset` is 9 at most. */
const MAX_PAGES = 10;

/** Brave recognises devices by the user agents that its documentation names. */
const USER_AGENTS: Readonly<Record<Device, string>> = {
  desktop:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.0.0 Safari/537.36',
  mobile:
    'Mozilla/5.0 (Linux; Android 13; Pixel 7 Pro) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/108.0.0.0 Mobile Safari/537.36',
}; // prettier-ignore

/** A town's name in a form that a header can hold, without accents; undefined for a name in another script. */
function townOf({ location }: EngineQuery): string | undefined {
  const plain = location?.normalize('NFD').replace(/\p{M}/gu, '');
  return plain !== undefined && /^[\x20-\x7e]+$/.test(plain) ? plain : undefined;
}

/** Headers that tell Brave the searcher's place and device. */
function whereabouts(query: EngineQuery): Record<string, string> {
  const { coordinates, country, device } = query;
  const town = townOf(query);
  return {
    ...(town !== undefined && { 'x-loc-city': town }),
    ...(coordinates && { 'x-loc-lat': String(coordinates.latitude), 'x-loc-long': String(coordinates.longitude) }),
    ...((town !== undefined || coordinates) && { 'x-loc-country': country }),
    ...(device && { 'user-agent': USER_AGENTS[device] }),
  };
}

function languageOf({ language }: EngineQuery): string {
  return language.split('-')[0] ?? language;
}

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
    mostPages: MAX_PAGES,
    targetingOf: (query) => ({
      country: query.country,
      language: languageOf(query),
      location: townOf(query) ?? null,
      coordinates: query.coordinates ?? null,
      device: query.device ?? null,
    }),
    searchPage: async (query, page, signal) => {
      const language = languageOf(query);
      const parameters = { q: query.query, count: PAGE_SIZE, offset: page - 1, country: query.country, search_lang: language };
      const headers = { ...whereabouts(query), 'X-Subscription-Token': token };
      // No retry, because every request costs money.
      const request = { mode, path: '/res/v1/web/search', query: parameters, headers, signal, idempotent: false };
      const { web } = await askJson(client, request, answer);
      const results = (web?.results ?? []).map(({ title, url, description }) => ({
        title: withoutMarks(title),
        url,
        snippet: withoutMarks(description ?? ''),
        engine: 'brave',
      }));
      return { results };
    },
  };
}
