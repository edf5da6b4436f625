/** The most tags of one key. */
export const MAX_TAGS = 10;
/** Characters. */
export const MAX_TAG = 40;

/** A letter or digit, then more of these, spaces and `._:/-`: no invisible characters, line breaks or changes of direction. */
const TAG = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._:/-]*$/u;

/** Tags as stored: lower case, each once, in order. */
export function normaliseTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => tag.trim().normalize('NFC').toLowerCase()))].sort();
}

/** Whether a normalised text can be a tag. */
export function isTag(text: string): boolean {
  return TAG.test(text) && text.length <= MAX_TAG;
}
