import { type ReadPage } from '../../../kit/pages/page-reader';
import { hostOf, isSameSite } from '../../../kit/pages/page-url';
import { type PageLink } from '../../../kit/pages/parse-page';
import { type SignalFinding, type Findings } from './spam-signals';
import { findPoison, isCommercialAnchor } from './spam-words';
import { isLinkTo, type Target } from './target';

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
export interface PageEvidence {
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
