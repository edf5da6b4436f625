/**
 * Characters that two servers read differently: an encoded slash, backslash or NUL, and whatever may not stand in a path. A gateway that decodes
 * `/a/..%2fb` routes by `/b`, a service behind it may see a path below `/a`.
 */
const UNCLEAR = /%(?:2f|5c|00)|[^\x21-\x7e]|[\\#?]/i;

/** Letters, digits, `-`, `.`, `_` and `~` need no encoding (RFC 3986, section 2.3). */
const NEEDLESS = /%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/i;

/** What only some servers read as a separator: an encoded slash or backslash, a backslash, and the parameter of a segment. */
const HIDDEN_SEPARATOR = /%2f|%5c|[\\;]/i;

/**
 * Whether a path has a dot segment for a server that decodes slashes and backslashes, or drops parameters, before it resolves them, though
 * it has none for Kong. `/a/..%2fb` and `/a/..;/b` would leave the path below which a service is sold.
 */
export function hidesDotSegment(rawPath: string): boolean {
  if (!HIDDEN_SEPARATOR.test(rawPath)) return false;
  const segments = rawPath
    .replace(/%2f|%5c/gi, '/')
    .replace(/%2e/gi, '.')
    .split(/[\\/]/);
  return segments.some((segment) => /^\.\.?(?:;|$)/.test(segment));
}

/**
 * Whether a path encodes characters that need no encoding: a gateway that routes by the raw path and its service would read two different
 * paths.
 */
export const hasNeedlessEncoding = (rawPath: string): boolean => NEEDLESS.test(rawPath);

/**
 * A request's path with dot segments and empty segments resolved, as nginx, Caddy and Kong resolve them before they choose a route.
 * @param rawPath begins with `/`, without the query
 * @returns undefined for a path that cannot be read in one way only
 */
export function resolvePath(rawPath: string): string | undefined {
  if (!rawPath.startsWith('/') || UNCLEAR.test(rawPath) || /\/(?:\.|%2e){1,2};/i.test(rawPath)) return undefined;
  if (!/\/\/|\/\.|%2e/i.test(rawPath)) return rawPath;
  const out: string[] = [];
  const segments = rawPath.slice(1).split('/');
  const last = segments.length - 1;
  for (const [index, segment] of segments.entries()) {
    const plain = segment.replace(/%2e/gi, '.');
    if (plain === '..' && out.pop() === undefined) return undefined;
    const isDots = plain === '' || plain === '.' || plain === '..';
    if (!isDots) out.push(segment);
    else if (index === last) out.push('');
  }
  return `/${out.join('/')}`;
}
