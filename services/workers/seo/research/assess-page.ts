import { type PageVisit, type ReadPage } from '../../../kit/pages/page-reader';
import { hostOf, registrableDomain } from '../../../kit/pages/page-url';
import { BLOCK_LIST } from '../sources/block-list';
import { OPEN_PAGE_RANK, type PageRank } from '../sources/open-page-rank';
import { pageFindings, nameFindings } from './spam-findings';
import { notePage, readPage, type Research } from './research';
import { type Findings, judgeSpam, type SpamVerdict } from './spam-signals';
import { isLinkTo, type Target } from './target';

/** Open PageRank from which on it counts in favour of a domain. */
const HIGH_RANK_FROM = 5;

/** Third-party figures about several hosts; undefined if a source is off or failed. */
export interface HostReputation {
  readonly ranks: ReadonlyMap<string, PageRank> | undefined;
  readonly listed: ReadonlySet<string> | undefined;
}

/** Queries each source once for all hosts. */
export async function findReputation({ sources, log, signal }: Research, hosts: readonly string[]): Promise<HostReputation> {
  const { openPageRank, blockList } = sources;
  const domains = [...new Set(hosts.map(registrableDomain))];
  const [ranks, listed] = await Promise.all([
    openPageRank && log.ask(OPEN_PAGE_RANK, () => openPageRank.find(domains, signal)),
    blockList && log.ask(BLOCK_LIST, () => blockList.findListed(hosts, signal)),
  ]);
  return { ranks, listed };
}

/** Sources whose response is uninformative: a block list in memory that names none of the hosts. */
export function unlisting({ listed }: HostReputation): string[] {
  return listed === undefined || listed.size > 0 ? [] : [BLOCK_LIST];
}

function reputationFindings(host: string, { ranks, listed }: HostReputation): Findings {
  const score = ranks?.get(registrableDomain(host))?.score ?? null;
  const isListed = listed?.has(host) ?? false;
  return {
    ...(listed && { blocklisted: { hit: isListed, evidence: isListed ? 'on the block list' : 'not on the block list' } }),
    ...(ranks && {
      high_open_page_rank: {
        hit: (score ?? 0) >= HIGH_RANK_FROM,
        evidence: score === null ? 'unknown to Open PageRank' : `Open PageRank ${score}`,
      },
    }),
  };
}

async function hasIcon({ pages }: Research, { page, url }: ReadPage): Promise<boolean | undefined> {
  return page.hasIcon || (await pages.exists(new URL('/favicon.ico', url).href));
}

/** True when another page of the site also links to the target; undefined when no such page could be read. */
async function isSitewide({ pages }: Research, { page, url }: ReadPage, target: Target): Promise<boolean | undefined> {
  if (!page.links.some((link) => isLinkTo(target, link.url))) return false;
  const home = new URL('/', url);
  const isOther = (each: URL): boolean => each.pathname !== url.pathname && hostOf(each) === hostOf(url);
  const other = isOther(home) ? home : page.links.find((link) => isOther(link.url))?.url;
  if (!other) return undefined;
  const visit = await pages.read(other.href);
  return visit.state === 'read' ? visit.page.links.some((link) => isLinkTo(target, link.url)) : undefined;
}

export interface Assessment {
  /** The URL that the caller named. */
  readonly asked: URL;
  readonly visit: PageVisit;
  readonly reputation: HostReputation;
  /** The page that should be linked, if the page is judged as a backlink. */
  readonly target: Target | undefined;
}

/** Judges one page and its domain. */
export async function assessPage(research: Research, { asked, visit, reputation, target }: Assessment): Promise<SpamVerdict> {
  const host = hostOf(asked);
  const aboutSite: Findings = { ...nameFindings(host), ...reputationFindings(host, reputation) };
  if (visit.state !== 'read') return judgeSpam(aboutSite, false);
  const [icon, sitewide] = await Promise.all([hasIcon(research, visit), target && isSitewide(research, visit, target)]);
  const aboutPage = pageFindings({ visit, asked, hasIcon: icon, target, isSitewide: sitewide });
  return judgeSpam({ ...aboutSite, ...aboutPage }, true);
}

/** Reads a site's front page, over TLS if the site supports it. */
export async function readFrontPage(research: Research, host: string): Promise<{ asked: URL; visit: PageVisit }> {
  const secure = new URL(`https://${host}/`);
  const visit = await research.pages.read(secure.href);
  if (visit.state === 'unreachable' && visit.status === null) {
    const plain = new URL(`http://${host}/`);
    const second = await readPage(research, plain.href);
    if (second.state === 'read') return { asked: plain, visit: second };
    return { asked: secure, visit };
  }
  notePage(research, visit);
  return { asked: secure, visit };
}

/** True when the page links to the target; null when it could not be read. */
export function linksTo(visit: PageVisit, target: Target): boolean | null {
  return visit.state === 'read' ? visit.page.links.some(({ url }) => isLinkTo(target, url)) : null;
}
