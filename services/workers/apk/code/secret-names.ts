/**
 * Names that always mean a secret, and the characters that may stand between a name and its value. `token` alone is also a word in parsers.
 */
const NAME =
  '(?:pass(?:word|wd|phrase|code)|(?:access|auth|authorization|oauth2?|refresh|bearer|session|id|api|jwt|security|login|user)[ _-]?token|' +
  '(?:api|secret|private|encryption)[ _-]?key|client[ _-]?secret|(?<![a-z])(?:secret|token|pwd|otp|cvv|authorization|bearer))';
/** Bounded, so that no text takes long to match. */
const BETWEEN = '["\']?\\s{0,2}(?:[:=>-]{1,3}|\\bis\\b)\\s{0,2}(?:bearer\\s)?["\'[(<{]?\\s?';

const BEFORE_VALUE = new RegExp(`(${NAME}${BETWEEN})$`, 'i');
/** A name alone, as in `password ` followed by the value. */
const ALONE = new RegExp(`^[\\s,;]{0,3}(${NAME})["']?\\s{0,2}$`, 'i');
const BEFORE_FORMAT = new RegExp(`(${NAME}${BETWEEN})%(?:\\d\\$)?[sS]`, 'i');
const TAG = /^(?:pass(?:word|wd|phrase)|(?:access|auth|refresh|bearer)[ _-]?token|(?:api|secret|private)[ _-]?key)$/i;

/** Error texts name secrets too, but usually continue with the reason. In a parser a token is not a secret. */
const NO_VALUE =
  /fail|error|unable|can(?:not|'t)|could ?n|exception|problem|missing|while|empty|expired?\b|expect|next|last token|current token|(?:invalid|bad|illegal|unknown|end) token/i;

/**
 * The secret's name at the end of a constant text, if a secret value follows it, as after `password=`.
 * @param isText false when any object may follow: objects called tokens are usually something else
 */
export function secretNamedAtEnd(text: string, isText: boolean): string | undefined {
  const name = NO_VALUE.test(text) ? undefined : (BEFORE_VALUE.exec(text) ?? ALONE.exec(text))?.[1]?.trim();
  return isText || !/token/i.test(name ?? '') ? name : undefined;
}

/** The secret's name in a format, such as `password=%s`. */
export function secretNamedInFormat(format: string): string | undefined {
  return NO_VALUE.test(format) ? undefined : BEFORE_FORMAT.exec(format)?.[1]?.trim();
}

/** A cheap check that is false for most texts. */
export const mayNameSecret = (text: string): boolean => /pass|pwd|secret|token|key|otp|cvv|authorization|bearer/i.test(text);

/** True for a log tag that announces a secret. */
export const isSecretTag = (tag: string): boolean => TAG.test(tag);
