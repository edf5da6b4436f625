import { unpackStart } from '../upstream/unpack-body';
import { matchRobotsRule, parseRobotsRule, type RobotsRule } from './robots-rule';

/** How we name ourselves; the product token that rules are matched with is its first part. */
export const USER_AGENT = 'TollgateBot/1.0';
const ROBOTS_TOKEN = 'TollgateBot';

/** Bytes of a robots.txt that are unpacked and read; RFC 9309 asks for 500 KiB at least. */
const MAX_BYTES = 512_000;
/** As sent they are hardly longer where packing did not help: deflate adds 5 bytes to 64 KiB. */
const MAX_SENT = 520_000;
/** Comparisons of one look-up: about 10 ms. A path of 100 characters may meet 10,000 rules with a wildcard and 10 characters after it. */
const MAX_WORK = 10_000_000;

/** `too_complex`: to find out would take longer than a site may hold us up. */
export type RobotsVerdict = 'allowed' | 'forbidden' | 'too_complex';

/** Says whether we may fetch a URL of the origin that the rules are from. */
type RobotsRules = (url: URL) => RobotsVerdict;

/** Rules of the groups for one crawler and for all; undefined when there is no such group. */
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

/** Groups of the same crawler count as one (RFC 9309, 2.2.1). Lines that are neither rules nor names of crawlers end no list of names. */
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

/** The longest pattern decides, and among equals the one that allows (RFC 9309, 2.2.2): in this order the first match is the answer. */
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

/** As much of a robots.txt, as sent, as can matter: a call keeps those of all its sites. */
export function keepOfRobots(packed: Buffer): Buffer {
  return packed.length <= MAX_SENT ? packed : Buffer.from(packed.subarray(0, MAX_SENT));
}

/** What the status of an answer to `/robots.txt` alone says (RFC 9309): all is allowed for a 4xx, and forbidden while the server fails. */
export function verdictOfStatus(status: number): 'allowed' | 'forbidden' | undefined {
  if (status === 429 || status >= 500) return 'forbidden';
  return status < 200 || status > 299 ? 'allowed' : undefined;
}

/**
 * What a robots.txt says of one page of its site to us. Half a megabyte of it takes 60 ms.
 * @param packed as sent, with its `content-encoding`
 * @throws BodyNotUnpacked `encoding_refused`
 */
export async function judgeByRobots(packed: Buffer, encoding: string | undefined, url: string): Promise<RobotsVerdict> {
  const { bytes } = await unpackStart(packed, encoding, MAX_BYTES);
  return parseRobots(bytes.toString('utf8'), ROBOTS_TOKEN)(new URL(url));
}
