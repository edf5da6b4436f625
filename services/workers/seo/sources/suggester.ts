import { z } from 'zod';
import { type KeyMode } from '../../../../plugins/core/ports';
import { askJson, type JsonClient } from './ask-json';

export interface SuggestQuery {
  readonly keyword: string;
  /** Two upper-case letters. */
  readonly country: string;
  readonly language: string;
}

/** A source of searches that people type after a keyword. */
export interface Suggester {
  readonly name: string;
  /** Suggestions in the source's order. @throws SourceFailed, ServiceError */
  suggest(query: SuggestQuery, signal: AbortSignal): Promise<string[]>;
}

/** The keyword, its suggestions, and members that differ between browsers. */
const answer = z.tuple([z.string(), z.array(z.string())]).rest(z.unknown());

/** `type=list` returns the form that browsers use. */
export function createDuckDuckGo(client: JsonClient, mode: KeyMode): Suggester {
  return {
    name: 'duckduckgo_suggestions',
    suggest: async ({ keyword, country, language }, signal) => {
      const region = `${country}-${language.split('-')[0] ?? language}`.toLowerCase();
      const request = { mode, path: '/ac/', query: { type: 'list', q: keyword, kl: region }, signal };
      return (await askJson(client, request, answer))[1];
    },
  };
}

export function createGoogleSuggest(client: JsonClient, mode: KeyMode): Suggester {
  return {
    name: 'google_suggestions',
    suggest: async ({ keyword, country, language }, signal) => {
      // Without `oe`, the charset of the response depends on the language.
      const query = { client: 'firefox', q: keyword, hl: language, gl: country.toLowerCase(), ie: 'utf-8', oe: 'utf-8' };
      return (await askJson(client, { mode, path: '/complete/search', query, signal }, answer))[1];
    },
  };
}
