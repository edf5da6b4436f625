/**
 * Characters that two servers may read differently: an encoded slash, backslash or NUL, and characters that a path may not contain. A
 * gateway that decodes `/a/..%2fb` routes by `/b`, while a service behind it may see a path below `/a`.
 */
const UNCLEAR = /%(?:2f|5c|00)|[^\x21-\x7e]|[\\#?]/i;

/** Letters, digits, `-`, `.`, `_` and `~` need no encoding (RFC 3986, section 2.3). */
const NEEDLESS = /%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/i;

/** Separators for some servers only: an encoded slash or backslash, a backslash, and the parameter of a segment. */
const HIDDEN_SEPARATOR = /%2f|%5c|[\\;]/i;

/**
 * Whether a path has a dot segment only for a server that decodes slashes and backslashes, or drops parameters, before it resolves them.
 * Kong sees none in `/a/..%2fb` and `/a/..;/b`, but such a server would leave the path below which a service is sold.
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
 * Whether a path encodes characters that need no encoding. A gateway that routes by the raw path and its service would read two different
 * paths.
 */
export const hasNeedlessEncoding = (rawPath: string): boolean => NEEDLESS.test(rawPath);

/**
 * A request's path with dot segments and empty segments resolved, as nginx, Caddy and Kong resolve them before they choose a route.
 * @param rawPath begins with `/`, without the query
 * @returns undefined for a path that can be read in more than one way
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
