import { type Place } from './place';

/** What the caller knows about a business. */
export interface WantedBusiness {
  readonly name?: string | undefined;
  readonly placeId?: string | undefined;
}

type MatchMethod = 'place_id' | 'name_exact' | 'name_similar';

/** A place that may be the wanted one. */
export interface Candidate {
  /** Index in the list that was searched. */
  readonly index: number;
  /** Dice coefficient of the names' words; 1 for the same name or id. */
  readonly score: number;
}

export type BusinessMatch =
  | {
      readonly kind: 'found';
      readonly index: number;
      readonly method: MatchMethod;
      readonly score: number;
      /** If several places have the same name, all of them, beginning with the match; otherwise empty. */
      readonly candidates: readonly Candidate[];
    }
  /** Several similar names, none clearly the best. */
  | { readonly kind: 'ambiguous'; readonly candidates: readonly Candidate[] }
  | { readonly kind: 'none' };

const LOWEST_SCORE = 0.85;
/** The lead that the most similar name needs over the next. */
const MARGIN = 0.05;
/** Tolerance for binary fractions: 0.9 − 0.85 is less than 0.05. */
const ROUNDING = 1e-9;

function found(index: number, method: MatchMethod, score: number, candidates: readonly Candidate[] = []): BusinessMatch {
  return { kind: 'found', index, method, score, candidates };
}

function matchId(places: readonly Place[], placeId: string): BusinessMatch | undefined {
  const index = places.findIndex((place) => place.placeId === placeId);
  return index < 0 ? undefined : found(index, 'place_id', 1);
}

/**
 * The first of several places with the same name is the match, so places further down never change the business's rank. The others are
 * listed with it.
 */
function matchExactly(places: readonly Place[], name: string): BusinessMatch | undefined {
  const { key } = foldName(name);
  const same = places.flatMap((place, index) => (foldName(place.name).key === key ? [{ index, score: 1 }] : []));
  const [first] = same;
  return first && found(first.index, 'name_exact', 1, same.length > 1 ? same : []);
}

function matchSimilar(places: readonly Place[], name: string): BusinessMatch {
  const wanted = foldName(name);
  const scored = places.map((place, index) => ({ index, score: nameSimilarity(wanted, foldName(place.name)) }));
  const [best, ...others] = scored.sort((one, other) => other.score - one.score || one.index - other.index);
  if (!best || best.score < LOWEST_SCORE - ROUNDING) return { kind: 'none' };
  const rivals = others.filter(({ score }) => best.score - score < MARGIN - ROUNDING);
  if (rivals.length > 0) return { kind: 'ambiguous', candidates: [best, ...rivals] };
  return found(best.index, 'name_similar', best.score);
}

/** A match that no place further down the list can change; undefined until there is one. */
export function matchFirmly(places: readonly Place[], { name, placeId }: WantedBusiness): BusinessMatch | undefined {
  const byId = placeId === undefined ? undefined : matchId(places, placeId);
  return byId ?? (name === undefined ? undefined : matchExactly(places, name));
}

/**
 * Finds a business in a ranked list: by its id; otherwise by its name, folded and equal; otherwise by the most similar name, if that is
 * similar enough and has enough of a lead.
 */
export function matchBusiness(places: readonly Place[], wanted: WantedBusiness): BusinessMatch {
  const firm = matchFirmly(places, wanted);
  if (firm) return firm;
  return wanted.name === undefined ? { kind: 'none' } : matchSimilar(places, wanted.name);
}

/** Legal forms of companies at the end of a name, in full or short. */
const COMPANY_SUFFIXES = new Set(['pvt', 'private', 'ltd', 'limited', 'llp', 'inc', 'llc']);

/** NFKC would turn these marks into letters. */
const TRADE_MARKS = /[™℠®©]/g;

/** A name reduced to what distinguishes businesses. */
interface FoldedName {
  /** Equal for names that count as the same: without case, punctuation, spaces and company suffix. */
  readonly key: string;
  readonly tokens: ReadonlySet<string>;
}

/** Upper case comes first, because it merges letters that lower case keeps apart (ß and ss, ς and σ, ı and i). */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}

/** Joins initials, so that `S R Traders` and `S.R. Traders` both become `sr traders`. */
function joinInitials(words: readonly string[]): string[] {
  const joined: string[] = [];
  let inInitials = false;
  for (const word of words) {
    const isInitial = [...word].length === 1;
    const last = joined.length - 1;
    if (isInitial && inInitials) joined[last] = `${joined[last] ?? ''}${word}`;
    else joined.push(word);
    inInitials = isInitial;
  }
  return joined;
}

/** Number of last words that form one company suffix: one for `ltd`, three for `L. L. P.` */
function suffixLength(words: readonly string[]): number {
  if (COMPANY_SUFFIXES.has(words.at(-1) ?? '')) return 1;
  const letters = words.slice(-3);
  return letters.every((word) => word.length === 1) && COMPANY_SUFFIXES.has(letters.join('')) ? letters.length : 0;
}

/** A name that is nothing but a suffix keeps it. */
function withoutSuffixes(words: readonly string[]): readonly string[] {
  const length = suffixLength(words);
  return length > 0 && length < words.length ? withoutSuffixes(words.slice(0, -length)) : words;
}

/** Folds a name: NFKC, without case, punctuation, symbols and company suffixes. A name of punctuation alone stays as it is. */
export function foldName(name: string): FoldedName {
  const plain = foldCase(name.replace(TRADE_MARKS, '').normalize('NFKC'));
  const spaced = plain.replace(/['’ʼ`´]|\p{Cf}/gu, '').replace(/[\p{P}\p{S}\p{Cc}]+/gu, ' ');
  const words = joinInitials(withoutSuffixes(spaced.split(/\s+/u).filter((word) => word !== '')));
  const key = words.join('');
  return key === '' ? { key: plain.replace(/\s+/gu, ''), tokens: new Set() } : { key, tokens: new Set(words) };
}

/** Sørensen–Dice of the words of two names, from 0 to 1. Order and repeats do not count. */
function nameSimilarity(one: FoldedName, other: FoldedName): number {
  const total = one.tokens.size + other.tokens.size;
  if (total === 0) return 0;
  let shared = 0;
  for (const token of one.tokens) if (other.tokens.has(token)) shared++;
  return (2 * shared) / total;
}
