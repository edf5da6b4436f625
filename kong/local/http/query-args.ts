/** One argument as nginx reads it. A bare `flag` is `true`. */
export type QueryValue = string | true;

/**
 * Reads a query string as `ngx.req.get_uri_args` does: names and values decoded (`+` is a space), a bare name is `true`,
 * arguments with an empty name are dropped, reading stops after `max` arguments.
 */
export function parseQueryArgs(query: string, max: number): [string, QueryValue][] {
  const found: [string, QueryValue][] = [];
  if (query === '') return found;
  for (const part of query.split('&')) {
    if (found.length >= max) break;
    const equals = part.indexOf('=');
    const name = decodeArg(equals < 0 ? part : part.slice(0, equals));
    if (name === '') continue;
    found.push([name, equals < 0 ? true : decodeArg(part.slice(equals + 1))]);
  }
  return found;
}

/** Decodes bytes, not characters: the result is a byte string, and a broken triplet stays as it is. */
function decodeArg(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  return spaced.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
