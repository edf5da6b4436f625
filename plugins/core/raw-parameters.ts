/** Raw `a=1&b=2` text, as in a query string or an urlencoded form, read without re-encoding what is not ours. */

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

function nameOf(pair: string): string {
  const equals = pair.indexOf('=');
  return decode(equals < 0 ? pair : pair.slice(0, equals));
}

/** Cheap and never wrong in the negative: a name can only be spelled out or hidden behind a percent escape. */
function mayHold(raw: string, name: string): boolean {
  return raw.length >= name.length && (raw.includes(name) || raw.includes('%'));
}

/** Every value of a parameter in order; a bare `name` has the empty value. */
export function readParameter(raw: string, name: string): string[] {
  if (!mayHold(raw, name)) return [];
  return raw
    .split('&')
    .filter((pair) => nameOf(pair) === name)
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals < 0 ? '' : decode(pair.slice(equals + 1));
    });
}

/** The same text without the parameter; every other byte stays as it was. */
export function removeParameter(raw: string, name: string): string {
  if (!mayHold(raw, name)) return raw;
  return raw
    .split('&')
    .filter((pair) => nameOf(pair) !== name)
    .join('&');
}
