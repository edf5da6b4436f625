/** Characters whose percent-encoding has a meaning. They stay encoded (RFC 3986 reserved characters). */
const RESERVED = new Set([..."!*'();:@&=+$,/?%#[]"].map((character) => character.charCodeAt(0)));

/**
 * The path by which Kong routes: unreserved characters decoded, reserved triplets upper-cased, `.` and `..` segments resolved, double
 * slashes merged. `path` has no query and is a byte string (one character a byte).
 */
export function normalizePath(path: string): string {
  let decoded = path;
  if (path.includes('%')) {
    decoded = path.replace(/%([0-9a-f]{2})/gi, (triplet, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return RESERVED.has(code) ? triplet.toUpperCase() : String.fromCharCode(code);
    });
  }
  if (!decoded.includes('.') && !decoded.includes('//')) return decoded;
  return resolveSegments(decoded);
}

function resolveSegments(path: string): string {
  const segments = path.split('/');
  const output: string[] = [];
  for (let i = 1; i < segments.length; i++) {
    const segment = segments[i] ?? '';
    const last = i === segments.length - 1;
    if (segment === '..') output.pop();
    else if (segment !== '.' && segment !== '') output.push(segment);
    // A path that ends in a slash or a dot segment names a directory, so its slash stays.
    if (last && (segment === '' || segment === '.' || segment === '..')) output.push('');
  }
  return `/${output.join('/')}`;
}

/** Percent-encodes characters that a request line may not contain. Triplets and reserved characters stay as they are. */
export function escapePath(path: string): string {
  if (!/[^!#$&'()*+,/:;=?@[\]A-Za-z\d\-_.~%]/.test(path)) return path;
  return path.replace(
    /[^!#$&'()*+,/:;=?@[\]A-Za-z\d\-_.~%]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** Paths that nginx refuses with 400 before any routing: a broken or zero triplet, or `..` that leaves the root. */
export function isRefusedPath(path: string): boolean {
  const percent = path.includes('%');
  if (percent && /%(?![0-9a-f]{2})|%00/i.test(path)) return true;
  if (!path.includes('..') && !percent) return false;
  const decoded = percent ? path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))) : path;
  let depth = 0;
  for (const segment of decoded.split('/')) {
    if (segment === '..') depth -= 1;
    else if (segment !== '' && segment !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

/** Splits a request target at its first `?`. The query does not include it. */
export function splitTarget(target: string): { path: string; query: string; hasQuery: boolean } {
  const at = target.indexOf('?');
  if (at < 0) return { path: target, query: '', hasQuery: false };
  return { path: target.slice(0, at), query: target.slice(at + 1), hasQuery: true };
}
