import { domainToUnicode } from 'node:url';
import { isIP } from 'node:net';
import { getPublicSuffix } from 'tldts';
import { type ReadPage } from '../../../kit/pages/page-reader';
import { hostOf, isSameSite, registrableDomain } from '../../../kit/pages/page-url';
import { type PageLink } from '../../../kit/pages/parse-page';
import { type SignalFinding, type Findings } from './spam-signals';
import { isLinkTo, type Target } from './target';

const LONG_FROM = 26;
const HYPHENS_FROM = 2;
const DIGITS_FROM = 3;
const CONSONANTS = /[bcdfghjklmnpqrstvwxz]{5,}/i;

function counted(count: number, from: number, what: string): SignalFinding {
  return { hit: count >= from, evidence: `${count} ${what} in the domain` };
}

/** Findings from a host's name alone. An IP address has no name. */
export function nameFindings(host: string): Findings {
  if (isIP(host) !== 0) return {};
  const domain = registrableDomain(host);
  const tld = domain.split('.').at(-1) ?? '';
  // Counts letters as people see them, rather than in their ASCII form.
  const suffix = getPublicSuffix(domain);
  const label = domainToUnicode(suffix !== null && domain.endsWith(`.${suffix}`) ? domain.slice(0, -suffix.length - 1) : domain);
  const run = CONSONANTS.exec(label)?.[0];
  return {
    spam_tld: { hit: SPAM_TLDS.has(tld), evidence: `.${tld}` },
    long_domain: { hit: domain.length >= LONG_FROM, evidence: `${domain.length} characters` },
    many_hyphens: counted(label.split('-').length - 1, HYPHENS_FROM, 'hyphens'),
    many_digits: counted(label.match(/\d/g)?.length ?? 0, DIGITS_FROM, 'digits'),
    consonant_run: { hit: run !== undefined, evidence: run ?? 'no five consonants in a row' },
  };
}

const MANY_LINKS_FROM = 101;
const RATIO_ABOVE = 0.1;
const CONTACT = /contact|impressum|imprint|kontakt|about/i;
/** Maximum characters of a page's text that are quoted as evidence. */
const MAX_EVIDENCE = 80;

function quote(text: string): string {
  return text.length > MAX_EVIDENCE ? `"${text.slice(0, MAX_EVIDENCE)}…"` : `"${text}"`;
}

function poisonFinding(title: string, links: readonly PageLink[]): SignalFinding {
  const inTitle = findPoison(title);
  if (inTitle !== undefined) return { hit: true, evidence: `${quote(inTitle)} in the title` };
  for (const { anchor } of links) {
    const inAnchor = findPoison(anchor);
    if (inAnchor !== undefined) return { hit: true, evidence: `${quote(inAnchor)} in an anchor` };
  }
  return { hit: false, evidence: 'no poison word in title and anchors' };
}

function isNoindex({ page, headers }: ReadPage): boolean {
  return [page.metaRobots, headers['x-robots-tag']].some((each) => /(^|[\s,:])(noindex|none)([\s,]|$)/i.test(each ?? ''));
}

function contactFinding({ page }: ReadPage): SignalFinding {
  const hit = !page.hasContact && !page.links.some(({ url, anchor }) => CONTACT.test(url.pathname) || CONTACT.test(anchor));
  return { hit, evidence: hit ? 'no mail address, telephone number or contact page' : 'a way to get in touch' };
}

/** Finds anchors that are phrases to rank for, among links to the target, or among all links to other sites. */
function commercialFinding(links: readonly PageLink[]): SignalFinding {
  const found = links.find(({ anchor }) => isCommercialAnchor(anchor));
  return found ? { hit: true, evidence: quote(found.anchor) } : { hit: false, evidence: 'no commercial anchor' };
}

function linkFindings(visit: ReadPage, outgoing: readonly PageLink[]): Findings {
  const hidden = outgoing.filter(({ isHidden }) => isHidden).length;
  const { words } = visit.page;
  const ratio = outgoing.length / Math.max(1, words);
  return {
    many_external_links: { hit: outgoing.length >= MANY_LINKS_FROM, evidence: `${outgoing.length} links to other sites` },
    external_link_ratio: { hit: ratio > RATIO_ABOVE, evidence: `${outgoing.length} links to other sites, ${words} words` },
    hidden_links: { hit: hidden > 0, evidence: `${hidden} hidden links to other sites` },
  };
}

/** Evidence from a page that was read. `hasIcon` and `isSitewide` needed further fetches; undefined means unknown. */
interface PageEvidence {
  readonly visit: ReadPage;
  readonly asked: URL;
  readonly hasIcon: boolean | undefined;
  readonly target: Target | undefined;
  readonly isSitewide: boolean | undefined;
}

export function pageFindings({ visit, asked, hasIcon, target, isSitewide }: PageEvidence): Findings {
  const { url, page } = visit;
  const host = hostOf(url);
  const outgoing = page.links.filter((link) => !isSameSite(hostOf(link.url), host));
  const judged = target ? page.links.filter((link) => isLinkTo(target, link.url)) : outgoing;
  const isElsewhere = !isSameSite(host, hostOf(asked));
  return {
    poison_words: poisonFinding(page.title, page.links),
    no_https: { hit: url.protocol !== 'https:', evidence: url.protocol.slice(0, -1) },
    no_contact: contactFinding(visit),
    ...(hasIcon !== undefined && { no_favicon: { hit: !hasIcon, evidence: hasIcon ? 'an icon' : 'no icon' } }),
    ...linkFindings(visit, outgoing),
    cross_domain_redirect: { hit: isElsewhere, evidence: isElsewhere ? `leads to ${host}` : 'stays on its domain' },
    noindex: { hit: isNoindex(visit), evidence: isNoindex(visit) ? 'noindex' : 'may be indexed' },
    commercial_anchor: commercialFinding(judged),
    ...(isSitewide !== undefined && {
      sitewide_link: {
        hit: isSitewide,
        evidence: isSitewide ? 'another page of the site has the link too' : 'another page does not have the link',
      },
    }),
  };
}

/** Words for goods that are common in spam: our own choice. They match as whole words, in any case. */
const POISON = [
  'viagra', 'cialis', 'levitra', 'casino', 'casinos', 'poker', 'slots', 'roulette', 'baccarat', 'betting', 'bookmaker', 'jackpot',
  'porn', 'porno', 'xxx', 'escort', 'escorts', 'sex', 'camgirls', 'payday', 'replica', 'replicas', 'steroids', 'tramadol', 'xanax',
  'backlinks for sale', 'buy backlinks', 'essay writing service', 'weight loss pills', 'judi online', 'situs slot', 'togel', 'slot gacor',
]; // prettier-ignore

const POISON_PATTERN = new RegExp(`(?<![\\p{L}\\p{N}])(${POISON.join('|')})(?![\\p{L}\\p{N}])`, 'iu');

/** The first spam word in a text, or undefined. */
function findPoison(text: string): string | undefined {
  return POISON_PATTERN.exec(text)?.[1]?.toLowerCase();
}

/** Words in phrases for which people buy links. */
const COMMERCIAL =
  /(?<![\p{L}\p{N}])(buy|cheap|cheapest|best price|discount|coupon|order online|for sale|deals?|loans?|insurance|mortgage|lawyers?|attorneys?|casino|poker|viagra|cialis|replica|seo services?|web hosting|payday|near me)(?![\p{L}\p{N}])/iu;
const MAX_WORDS = 6;

/** True for an anchor that is only a phrase to rank for: two to six words, including a commercial one. */
export function isCommercialAnchor(anchor: string): boolean {
  const words = anchor.split(/\s+/).filter(Boolean);
  return words.length >= 2 && words.length <= MAX_WORDS && COMMERCIAL.test(anchor);
}

/** Top-level domains of many cheap spam sites: our own choice, not a published ranking. The contract gives only the weight. */
const SPAM_TLDS: ReadonlySet<string> = new Set([
  'bar', 'beauty', 'bid', 'buzz', 'cam', 'cf', 'click', 'country', 'cyou', 'date', 'download', 'faith', 'fit', 'ga', 'gdn', 'gq', 'icu',
  'kim', 'life', 'link', 'live', 'loan', 'men', 'ml', 'mom', 'monster', 'party', 'pw', 'quest', 'racing', 'rest', 'review', 'sbs',
  'science', 'stream', 'surf', 'tk', 'top', 'trade', 'vip', 'wang', 'win', 'work', 'xin', 'xyz', 'zip',
]); // prettier-ignore
