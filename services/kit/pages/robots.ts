import { unpackStart } from '../upstream/unpack-body';

/** Our name in requests. Rules are matched with its first part, the product token. */
export const USER_AGENT = 'TollgateBot/1.0';
const ROBOTS_TOKEN = 'TollgateBot';

/** Bytes of a robots.txt that are unpacked and read. RFC 9309 asks for at least 500 KiB. */
const MAX_BYTES = 512_000;
/** Maximum bytes as sent. Packing that does not help adds little: deflate adds 5 bytes to 64 KiB. */
const MAX_SENT = 520_000;
/** Comparisons for one URL: about 10 ms. A path of 100 characters may meet 10,000 rules that have a wildcard and 10 characters after it. */
const MAX_WORK = 10_000_000;

/** `too_complex`: the check would take longer than a site may cost us. */
export type RobotsVerdict = 'allowed' | 'forbidden' | 'too_complex';

/** Judges a URL of the origin that the rules are from. */
type RobotsRules = (url: URL) => RobotsVerdict;

/** Rules of the groups for one crawler and for all crawlers; undefined when there is no such group. */
interface Groups {
  ours: RobotsRule[] | undefined;
  everybodys: RobotsRule[] | undefined;
}

/** The name of a crawler without its version. */
function tokenOf(text: string): string {
  return (text.split('/', 1)[0] ?? '').trim().toLowerCase();
}

function* linesOf(text: string): Generator<readonly [field: string, value: string]> {
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const [line = ''] = raw.split('#', 1);
    const colon = line.indexOf(':');
    if (colon > 0) yield [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
  }
}

/**
 * Reads the groups. Groups of the same crawler count as one (RFC 9309, 2.2.1). Lines that are neither rules nor names of crawlers do not
 * end a list of names.
 */
function parseGroups(text: string, token: string): Groups {
  const groups: Groups = { ours: undefined, everybodys: undefined };
  let isNaming = false;
  let isOurs = false;
  let isEverybodys = false;
  for (const [field, value] of linesOf(text)) {
    if (field === 'user-agent') {
      if (!isNaming) isOurs = isEverybodys = false;
      isNaming = true;
      const name = tokenOf(value);
      if (name === token) groups.ours ??= [];
      if (name === '*') groups.everybodys ??= [];
      isOurs ||= name === token;
      isEverybodys ||= name === '*';
      continue;
    }
    if (field !== 'allow' && field !== 'disallow') continue;
    isNaming = false;
    if (value === '') continue;
    const rule = isOurs || isEverybodys ? parseRobotsRule(value, field === 'allow') : undefined;
    if (rule && isOurs) groups.ours?.push(rule);
    if (rule && isEverybodys) groups.everybodys?.push(rule);
  }
  return groups;
}

/** The longest pattern decides, and among equals the one that allows (RFC 9309, 2.2.2). In this order the first match is the verdict. */
function byWeight(one: RobotsRule, other: RobotsRule): number {
  return other.pattern.length - one.pattern.length || Number(other.isAllow) - Number(one.isAllow);
}

/**
 * The rules of a robots.txt for one crawler.
 * @param token the crawler's name
 */
export function parseRobots(text: string, token: string): RobotsRules {
  const { ours, everybodys = [] } = parseGroups(text, token.toLowerCase());
  const rules = [...(ours ?? everybodys)].sort(byWeight);
  return ({ pathname, search }) => {
    const path = (pathname + search).replace(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase());
    let left = MAX_WORK;
    for (const rule of rules) {
      const { isMatch, work } = matchRobotsRule(rule, path);
      if (isMatch) return rule.isAllow ? 'allowed' : 'forbidden';
      left -= work;
      if (left < 0) return 'too_complex';
    }
    return 'allowed';
  };
}

/** Cuts a robots.txt, as sent, to the length that can matter. A call keeps those of all its sites. */
export function keepOfRobots(packed: Buffer): Buffer {
  return packed.length <= MAX_SENT ? packed : Buffer.from(packed.subarray(0, MAX_SENT));
}

/** The verdict that follows from the status of `/robots.txt` (RFC 9309): 4xx allows everything, a failing server forbids everything. */
export function verdictOfStatus(status: number): 'allowed' | 'forbidden' | undefined {
  if (status === 429 || status >= 500) return 'forbidden';
  return status < 200 || status > 299 ? 'allowed' : undefined;
}

/**
 * Judges one page by its site's robots.txt. Half a megabyte takes 60 ms.
 * @param packed as sent, with its `content-encoding`
 * @throws BodyNotUnpacked `encoding_refused`
 */
export async function judgeByRobots(packed: Buffer, encoding: string | undefined, url: string): Promise<RobotsVerdict> {
  const { bytes } = await unpackStart(packed, encoding, MAX_BYTES);
  return parseRobots(bytes.toString('utf8'), ROBOTS_TOKEN)(new URL(url));
}

/** One `allow` or `disallow` line. */
interface RobotsRule {
  readonly isAllow: boolean;
  /** Pattern in the form that is compared: percent-encoded, in upper-case octets. */
  readonly pattern: string;
  /** The pattern between its wildcards. */
  readonly pieces: readonly [string, ...string[]];
  /** The pattern ends with `$`: nothing may follow. */
  readonly isWhole: boolean;
}

/** Patterns and paths are compared octet by octet, even if only one of them was percent-encoded (RFC 9309, 2.2.2). */
function encoded(text: string): string {
  // Most patterns are plain ASCII and stay as they are.
  if (!/[^\x21-\x7e]|%/.test(text)) return text;
  try {
    return encodeURI(text)
      .replace(/%25/g, '%')
      .replace(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase());
  } catch {
    // Half a surrogate pair matches nothing.
    return text;
  }
}

function parseRobotsRule(text: string, isAllow: boolean): RobotsRule {
  const pattern = encoded(text);
  const isWhole = pattern.endsWith('$');
  const [first = '', ...others] = (isWhole ? pattern.slice(0, -1) : pattern).split(/\*+/);
  return { isAllow, pattern, pieces: [first, ...others], isWhole };
}

/**
 * Whether a rule applies to a path. Each piece is taken where it first occurs after the previous one. `*` stands for anything, so a later
 * place can never help.
 * @returns `work`: an upper bound of the comparisons that it took, at most the pattern's length times the path's
 */
function matchRobotsRule({ pieces, isWhole }: RobotsRule, path: string): { isMatch: boolean; work: number } {
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
