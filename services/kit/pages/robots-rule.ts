/** One `allow` or `disallow` line. */
export interface RobotsRule {
  readonly isAllow: boolean;
  /** As it is compared: percent-encoded, in upper-case octets. */
  readonly pattern: string;
  /** The pattern between its wildcards. */
  readonly pieces: readonly [string, ...string[]];
  /** The pattern ends with `$`: nothing may follow. */
  readonly isWhole: boolean;
}

/** Patterns and paths are compared octet by octet, whichever of them was written percent-encoded (RFC 9309, 2.2.2). */
function encoded(text: string): string {
  // Most patterns are plain ASCII and stay as they are.
  if (!/[^\x21-\x7e]|%/.test(text)) return text;
  try {
    return encodeURI(text)
      .replace(/%25/g, '%')
      .replace(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase());
  } catch {
    // Half a surrogate pair: it matches nothing.
    return text;
  }
}

export function parseRobotsRule(text: string, isAllow: boolean): RobotsRule {
  const pattern = encoded(text);
  const isWhole = pattern.endsWith('$');
  const [first = '', ...others] = (isWhole ? pattern.slice(0, -1) : pattern).split(/\*+/);
  return { isAllow, pattern, pieces: [first, ...others], isWhole };
}

/**
 * Whether a rule is about a path. Each piece is taken where it first occurs after the one before: with `*` standing for anything, a
 * later place can never help.
 * @returns `work`: no fewer than the comparisons that it took, which are at most the pattern's length times the path's
 */
export function matchRobotsRule({ pieces, isWhole }: RobotsRule, path: string): { isMatch: boolean; work: number } {
  const [first, ...others] = pieces;
  let work = first.length + 1;
  if (!path.startsWith(first)) return { isMatch: false, work };
  const last = isWhole ? others.pop() : undefined;
  let at = first.length;
  for (const piece of others) {
    work += (path.length - at) * piece.length + 1;
    const found = path.indexOf(piece, at);
    if (found < 0) return { isMatch: false, work };
    at = found + piece.length;
  }
  if (!isWhole) return { isMatch: true, work };
  if (last === undefined) return { isMatch: at === path.length, work };
  work += last.length;
  return { isMatch: path.length - at >= last.length && path.endsWith(last), work };
}
