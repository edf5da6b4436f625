/** An unpaired surrogate. */
export const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Why PostgreSQL cannot store a text, or JSON that contains it; undefined if it can. */
export function unstorableIn(text: string): string | undefined {
  if (text.includes('\0')) return 'the character U+0000';
  return text.search(LONE_SURROGATE) >= 0 ? 'half of a surrogate pair' : undefined;
}
