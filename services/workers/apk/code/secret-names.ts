/** Names that stand for a secret alone, and what may stand between one and its value. `token` is also a word of parsers. */
const NAME =
  '(?:pass(?:word|wd|phrase|code)|(?:access|auth|authorization|oauth2?|refresh|bearer|session|id|api|jwt|security|login|user)[ _-]?token|' +
  '(?:api|secret|private|encryption)[ _-]?key|client[ _-]?secret|(?<![a-z])(?:secret|token|pwd|otp|cvv|authorization|bearer))';
/** Bounded, so that no text takes long. */
const BETWEEN = '["\']?\\s{0,2}(?:[:=>-]{1,3}|\\bis\\b)\\s{0,2}(?:bearer\\s)?["\'[(<{]?\\s?';

const BEFORE_VALUE = new RegExp(`(${NAME}${BETWEEN})$`, 'i');
/** The name alone, as in `password ` and then the value. */
const ALONE = new RegExp(`^[\\s,;]{0,3}(${NAME})["']?\\s{0,2}$`, 'i');
const BEFORE_FORMAT = new RegExp(`(${NAME}${BETWEEN})%(?:\\d\\$)?[sS]`, 'i');
const TAG = /^(?:pass(?:word|wd|phrase)|(?:access|auth|refresh|bearer)[ _-]?token|(?:api|secret|private)[ _-]?key)$/i;

/** Texts of errors name secrets, and what follows is mostly the reason. In a parser a token is no secret. */
const NO_VALUE =
  /fail|error|unable|can(?:not|'t)|could ?n|exception|problem|missing|while|empty|expired?\b|expect|next|last token|current token|(?:invalid|bad|illegal|unknown|end) token/i;

/**
 * The name with which a constant text ends, if what follows is the value of a secret, such as `password=`.
 * @param isText false when what follows may be any object: objects that are called tokens mostly stand for something else
 */
export function secretNamedAtEnd(text: string, isText: boolean): string | undefined {
  const name = NO_VALUE.test(text) ? undefined : (BEFORE_VALUE.exec(text) ?? ALONE.exec(text))?.[1]?.trim();
  return isText || !/token/i.test(name ?? '') ? name : undefined;
}

/** The same of a format, such as `password=%s`. */
export function secretNamedInFormat(format: string): string | undefined {
  return NO_VALUE.test(format) ? undefined : BEFORE_FORMAT.exec(format)?.[1]?.trim();
}

/** False for most texts, and soon. */
export const mayNameSecret = (text: string): boolean => /pass|pwd|secret|token|key|otp|cvv|authorization|bearer/i.test(text);

/** True for a tag that says that the message is a secret. */
export const isSecretTag = (tag: string): boolean => TAG.test(tag);
