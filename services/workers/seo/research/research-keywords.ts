import pLimit from 'p-limit';
import { provided } from '../figure';
import { type Suggester, type SuggestQuery } from '../sources/suggester';
import { type Research, sourcesMissing } from './research';

export interface KeywordsQuery extends SuggestQuery {
  readonly limit: number;
  readonly expand: boolean;
}

/** Maximum concurrent queries to one source. */
const AT_ONCE = 4;
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

interface Suggestion {
  readonly keyword: string;
  /** Best position by source, from 1. */
  readonly places: Map<string, number>;
}

function keyOf(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** All suggestions of one source, a list for each query. After a failure, the source is not queried again. */
async function askSuggester({ log, signal }: Research, suggester: Suggester, query: KeywordsQuery): Promise<string[][]> {
  const ask = (keyword: string) => log.ask(suggester.name, async () => ({ value: await suggester.suggest({ ...query, keyword }, signal) }));
  const first = await ask(query.keyword);
  if (!first || !query.expand) return first ? [first] : [];
  const slots = pLimit(AT_ONCE);
  let hasFailed = false;
  const further = await slots.map(LETTERS, async (letter) => {
    const list = hasFailed ? [] : await ask(`${query.keyword} ${letter}`);
    hasFailed ||= list === undefined;
    return list ?? [];
  });
  return [first, ...further];
}

function collect(all: Map<string, Suggestion>, source: string, lists: readonly (readonly string[])[]): void {
  for (const list of lists) {
    for (const [index, keyword] of list.entries()) {
      const key = keyOf(keyword);
      if (key === '') continue;
      const suggestion = all.get(key) ?? { keyword: key, places: new Map<string, number>() };
      all.set(key, suggestion);
      const before = suggestion.places.get(source) ?? Number.POSITIVE_INFINITY;
      suggestion.places.set(source, Math.min(before, index + 1));
    }
  }
}

function bestPlace({ places }: Suggestion): number {
  return Math.min(...places.values());
}

/**
 * Finds what people type after a keyword, ordered by how early several sources list it. No source here publishes search volumes, so there
 * are none.
 */
export async function researchKeywords(research: Research, query: KeywordsQuery) {
  const { suggesters } = research.sources;
  if (suggesters.length === 0) throw sourcesMissing(research, ['duckduckgo_suggestions', 'google_suggestions']);
  const answers = await Promise.all(suggesters.map((suggester) => askSuggester(research, suggester, query)));
  research.log.requireProvider();
  const all = new Map<string, Suggestion>();
  for (const [index, { name }] of suggesters.entries()) collect(all, name, answers[index] ?? []);
  all.delete(keyOf(query.keyword));
  const ranked = [...all.values()].sort((a, b) => b.places.size - a.places.size || bestPlace(a) - bestPlace(b));
  return {
    keyword: query.keyword,
    country: query.country,
    language: query.language,
    suggestions: ranked.slice(0, query.limit).map(({ keyword, places }) => ({
      keyword,
      places: [...places].map(([source, place]) => provided(place, 'place', { source })),
    })),
  };
}
