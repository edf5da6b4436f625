/** What a company's legal form is called at the end of its name, spelled out or short. */
const COMPANY_SUFFIXES = new Set(['pvt', 'private', 'ltd', 'limited', 'llp', 'inc', 'llc']);

/** NFKC would turn them into letters. */
const TRADE_MARKS = /[™℠®©]/g;

/** A name reduced to what tells businesses apart. */
export interface FoldedName {
  /** Equal for names that count as the same: no case, no punctuation, no spaces, no company suffix. */
  readonly key: string;
  readonly tokens: ReadonlySet<string>;
}

/** Upper case first: it joins letters that lower case keeps apart (ß and ss, ς and σ, ı and i). */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}

/** `S R Traders` from `S.R. Traders` reads `sr traders`. */
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

/** How many of the last words are one company suffix: `ltd`, or the three of `L. L. P.` */
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

/** NFKC, without case, punctuation, symbols and company suffixes. A name of punctuation alone keeps it. */
export function foldName(name: string): FoldedName {
  const plain = foldCase(name.replace(TRADE_MARKS, '').normalize('NFKC'));
  const spaced = plain.replace(/['’ʼ`´]|\p{Cf}/gu, '').replace(/[\p{P}\p{S}\p{Cc}]+/gu, ' ');
  const words = joinInitials(withoutSuffixes(spaced.split(/\s+/u).filter((word) => word !== '')));
  const key = words.join('');
  return key === '' ? { key: plain.replace(/\s+/gu, ''), tokens: new Set() } : { key, tokens: new Set(words) };
}

/** Sørensen–Dice of the words of two names, 0 to 1; order and repeats do not count. */
export function nameSimilarity(one: FoldedName, other: FoldedName): number {
  const total = one.tokens.size + other.tokens.size;
  if (total === 0) return 0;
  let shared = 0;
  for (const token of one.tokens) if (other.tokens.has(token)) shared++;
  return (2 * shared) / total;
}
