/** Raw `a=1&b=2` text, as in a query string or an urlencoded form, read without re-encoding the other parameters. */

/** Decodes `+` and percent escapes; a malformed escape stands for itself, because refusing it is the service's business. */
function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

/** No reader decodes escaped escapes more often than this. */
const MAX_ESCAPED = 4;

/** The text as it is, then with its percent escapes decoded, repeatedly while any are left. It never fails. */
export function* readings(raw: string): Generator<string> {
  let text = raw;
  for (let times = 0; times <= MAX_ESCAPED; times++) {
    yield text;
    const next = text.includes('%')
      ? text.replaceAll(/%([0-9a-f]{2})/gi, (_escape, byte: string) => String.fromCharCode(Number.parseInt(byte, 16)))
      : text;
    if (next === text) return;
    text = next;
  }
}

/** Each character as itself or as its percent escape, in upper and lower case. */
function spellingsOf(name: string): string {
  const escapeOf = (letter: string): string =>
    letter
      .charCodeAt(0)
      .toString(16)
      .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  return Array.from(name, (letter) => `(?:${letter}|%${escapeOf(letter)})`).join('');
}

const patterns = new Map<string, RegExp>();

/**
 * Finds a parameter by its name without decoding all others: every malformed escape would cost an exception, and a stranger's body may have
 * half a million of them. Its groups are the separator from the previous parameter, and the value, which is absent after a bare name.
 * @param name letters and `_`
 */
function patternOf(name: string): RegExp {
  let pattern = patterns.get(name);
  if (!pattern) patterns.set(name, (pattern = new RegExp(`(^|&)${spellingsOf(name)}(?:=([^&]*))?(?=&|$)`, 'g')));
  return pattern;
}

/** A cheap test without false negatives: a name is either spelled out or contains a percent escape. */
function mayHold(raw: string, name: string): boolean {
  return raw.length >= name.length && (raw.includes(name) || raw.includes('%'));
}

/** The first two values of a parameter, in order; two are enough to know that it is repeated. A bare `name` has the empty value. */
export function readParameter(raw: string, name: string): string[] {
  const values: string[] = [];
  if (!mayHold(raw, name)) return values;
  for (const [, , value = ''] of raw.matchAll(patternOf(name))) {
    values.push(decode(value));
    if (values.length === 2) break;
  }
  return values;
}

/** The same text without the parameter; every other byte stays as it was. */
export function removeParameter(raw: string, name: string): string {
  if (!mayHold(raw, name)) return raw;
  let wasFirst = false;
  const rest = raw.replace(patternOf(name), (_parameter, separator: string) => {
    wasFirst ||= separator === '';
    return '';
  });
  // The first parameter's separator belonged to the parameter after it.
  return wasFirst ? rest.slice(1) : rest;
}
