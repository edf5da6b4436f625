import { type Figure, measured, PAGE_FETCH, provided, SERVICE, unasked } from '../figure';
import { hostOf, registrableDomain } from '../../../kit/pages/page-url';
import { COMMON_CRAWL } from '../sources/crawl-index';
import { OPEN_PAGE_RANK } from '../sources/open-page-rank';
import { TRANCO } from '../sources/tranco';
import { WEB_GRAPH } from '../sources/web-graph';
import { discoverLinks } from './search';
import { pageFacts } from './page-facts';
import { sourcesMissing, readPage, type Research } from './research';
import { type AuthorityInput, serviceAuthority } from './service-authority';
import { verifyBacklink } from './verify-backlink';

export interface AuthorityQuery {
  readonly host: string;
  /** The page to examine; undefined for a domain. */
  readonly page: URL | undefined;
}

const PROVIDERS = [OPEN_PAGE_RANK, TRANCO, WEB_GRAPH, COMMON_CRAWL];
/** Maximum pages that mention the host and are searched for links to the page. */
const PAGES_SEARCHED = 10;

/** A provider's figure, or the reason why there is none. */
function figureFrom(
  { sources, log }: Research,
  value: number | null | undefined,
  { unit, source }: { unit: string; source: string },
): Figure {
  const isConfigured = sources.states.some(({ name, configured }) => name === source && configured);
  if (!isConfigured) return unasked(unit, { source, reason: 'not_configured' });
  const failure = value === undefined ? log.failureOf(source) : undefined;
  return provided(value ?? null, unit, { source, ...(failure !== undefined && { reason: failure }) });
}

/** All figures of the providers about a domain. */
async function domainFigures(research: Research, domain: string) {
  const { openPageRank, tranco, webGraph, crawlIndex } = research.sources;
  const { log, signal } = research;
  const [ranks, trancoRank, harmonicRank, pages] = await Promise.all([
    openPageRank && log.ask(OPEN_PAGE_RANK, () => openPageRank.find([domain], signal)),
    tranco && log.ask(TRANCO, () => tranco.find(domain, signal)),
    webGraph && log.ask(WEB_GRAPH, () => webGraph.find(domain, signal)),
    crawlIndex && log.ask(COMMON_CRAWL, () => crawlIndex.countPages(domain, signal)),
  ]);
  const rank = ranks?.get(domain);
  const ranked = {
    open_page_rank: figureFrom(research, rank?.score, { unit: 'score_0_10', source: OPEN_PAGE_RANK }),
    tranco_rank: figureFrom(research, trancoRank, { unit: 'rank', source: TRANCO }),
    cc_harmonic_rank: figureFrom(research, harmonicRank, { unit: 'rank', source: WEB_GRAPH }),
  };
  // The choice follows the configuration, whatever responded. Of the two lists the more current one counts, because both rank the same
  // thing.
  const names: readonly (AuthorityInput | false | undefined)[] = [
    openPageRank && 'open_page_rank',
    tranco ? 'tranco_rank' : webGraph && 'cc_harmonic_rank',
  ];
  const inputs = names.flatMap((name) => (name ? [{ name, figure: ranked[name] }] : []));
  return {
    ...ranked,
    referring_domains: figureFrom(research, rank?.referringDomains, { unit: 'domains', source: OPEN_PAGE_RANK }),
    captured_pages: figureFrom(research, pages, { unit: 'pages_in_first_1000_captures', source: COMMON_CRAWL }),
    service_authority: serviceAuthority(inputs),
  };
}

/** Number of links to the page, on pages that mention its host and could be read, and the number of these pages. */
interface CountedLinks {
  readonly links_found: Figure;
  readonly link_pages_found: Figure;
  readonly link_pages_read: Figure;
}

function noLinks(reason: string): CountedLinks {
  const none = (unit: string): Figure => unasked(unit, { source: PAGE_FETCH, reason });
  return { links_found: none('links_on_pages_read'), link_pages_found: none('pages'), link_pages_read: none('pages') };
}

async function countLinks(research: Research, page: URL): Promise<CountedLinks> {
  const { engines } = research.sources;
  if (engines.length === 0) return noLinks('not_configured');
  const host = hostOf(page);
  const target = { host, domain: registrableDomain(host), page };
  const found = await discoverLinks(research, target, PAGES_SEARCHED);
  const failure = engines.every(({ name }) => research.log.failureOf(name) !== undefined);
  if (failure) return noLinks('search_failed');
  if (found.length === 0) return noLinks('nothing_found');
  const rows = await Promise.all(found.map((each) => verifyBacklink(research, each, { target, seenBeforeMs: undefined })));
  const count = (...statuses: string[]): number => rows.filter(({ row: { status } }) => statuses.includes(status)).length;
  const read = count('verified', 'lost');
  return {
    links_found: measured(read === 0 ? null : count('verified'), 'links_on_pages_read'),
    link_pages_found: measured(found.length, 'pages'),
    link_pages_read: measured(read, 'pages'),
  };
}

/** Figures about one page alone. */
async function pageFigures(research: Research, page: URL) {
  const { crawlIndex } = research.sources;
  const { log, signal } = research;
  const [captures, links, visit] = await Promise.all([
    crawlIndex && log.ask(COMMON_CRAWL, () => crawlIndex.countCaptures(page, signal)),
    countLinks(research, page),
    readPage(research, page.href),
  ]);
  const none = (unit: string, source: string): Figure => unasked(unit, { source, reason: 'domain_only' });
  const figures = {
    open_page_rank: none('score_0_10', OPEN_PAGE_RANK),
    tranco_rank: none('rank', TRANCO),
    cc_harmonic_rank: none('rank', WEB_GRAPH),
    referring_domains: none('domains', OPEN_PAGE_RANK),
    captured_pages: none('pages_in_first_1000_captures', COMMON_CRAWL),
    service_authority: none('score_0_100', SERVICE),
    captures: figureFrom(research, captures, { unit: 'captures_in_latest_crawl', source: COMMON_CRAWL }),
    ...links,
  };
  return { figures, visit };
}

/** The authority of a domain by source. In page scope it also returns the figures of the page. */
export async function researchAuthority(research: Research, { host, page }: AuthorityQuery) {
  const domain = registrableDomain(host);
  if (!research.sources.states.some(({ name, configured }) => configured && PROVIDERS.includes(name))) {
    throw sourcesMissing(research, PROVIDERS);
  }
  const [ofDomain, ofPage] = await Promise.all([domainFigures(research, domain), page && pageFigures(research, page)]);
  const silent = ofDomain.cc_harmonic_rank.value === null ? [WEB_GRAPH] : [];
  if (ofPage) research.log.requireSource(silent);
  else research.log.requireProvider(silent);
  research.log.note(SERVICE, 'service_estimate');
  if (!ofPage) return { domain, scope: 'domain', authority: ofDomain };
  return { domain, scope: 'page', authority: ofPage.figures, domain_authority: ofDomain, page: pageFacts(ofPage.visit) };
}
