/** Half of a pair that stands for one character. */
export const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Why PostgreSQL cannot keep a text, or JSON with it; undefined when it can. */
export function unstorableIn(text: string): string | undefined {
  if (text.includes('\0')) return 'the character U+0000';
  return text.search(LONE_SURROGATE) >= 0 ? 'half of a surrogate pair' : undefined;
}
