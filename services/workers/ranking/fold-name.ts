/** Legal forms of companies at the end of a name, in full or short. */
const COMPANY_SUFFIXES = new Set(['pvt', 'private', 'ltd', 'limited', 'llp', 'inc', 'llc']);

/** NFKC would turn these marks into letters. */
const TRADE_MARKS = /[™℠®©]/g;

/** A name reduced to what distinguishes businesses. */
export interface FoldedName {
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
export function nameSimilarity(one: FoldedName, other: FoldedName): number {
  const total = one.tokens.size + other.tokens.size;
  if (total === 0) return 0;
  let shared = 0;
  for (const token of one.tokens) if (other.tokens.has(token)) shared++;
  return (2 * shared) / total;
}
