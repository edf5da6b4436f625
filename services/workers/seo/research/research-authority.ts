import { estimated, provided, SERVICE } from '../figure';
import { registrableDomain } from '../../../kit/pages/page-url';
import { COMMON_CRAWL } from '../sources/crawl-index';
import { OPEN_PAGE_RANK } from '../sources/open-page-rank';
import { TRANCO } from '../sources/tranco';
import { WEB_GRAPH } from '../sources/web-graph';
import { pageFacts } from './page-facts';
import { readPage, type Research, sourcesMissing } from './research';
import { serviceAuthority } from './service-authority';

export interface AuthorityQuery {
  readonly host: string;
  /** The page to look at; undefined for a domain. */
  readonly page: URL | undefined;
}

/** Everything the providers say of a domain; undefined where a source is off or failed. */
async function askProviders({ sources, log, signal }: Research, domain: string) {
  const { openPageRank, tranco, webGraph, crawlIndex } = sources;
  const [ranks, trancoRank, harmonicRank, pages] = await Promise.all([
    openPageRank && log.ask(OPEN_PAGE_RANK, () => openPageRank.find([domain], signal)),
    tranco && log.ask(TRANCO, () => tranco.find(domain, signal)),
    webGraph && log.ask(WEB_GRAPH, () => webGraph.find(domain, signal)),
    crawlIndex && log.ask(COMMON_CRAWL, () => crawlIndex.countPages(domain, signal)),
  ]);
  return { rank: ranks?.get(domain), trancoRank, harmonicRank, pages };
}

/** How much weight a domain has, by whom; in page scope also what its page looks like. */
export async function researchAuthority(research: Research, { host, page }: AuthorityQuery) {
  const domain = registrableDomain(host);
  const names = [OPEN_PAGE_RANK, TRANCO, WEB_GRAPH, COMMON_CRAWL];
  if (!research.sources.states.some(({ name, configured }) => configured && names.includes(name))) throw sourcesMissing(research, names);
  const [{ rank, trancoRank = null, harmonicRank = null, pages = null }, visit] = await Promise.all([
    askProviders(research, domain),
    page && readPage(research, page.href),
  ]);
  research.log.requireProvider(harmonicRank === null ? [WEB_GRAPH] : []);
  const openPageRank = rank?.score ?? null;
  // One list's rank, the more current one first: both rank the same thing.
  const estimate = serviceAuthority({ openPageRank, rank: trancoRank ?? harmonicRank });
  research.log.note(SERVICE, 'service_estimate');
  return {
    domain,
    scope: page ? 'page' : 'domain',
    authority: {
      open_page_rank: provided(openPageRank, 'score_0_10', OPEN_PAGE_RANK),
      tranco_rank: provided(trancoRank, 'rank', TRANCO),
      cc_harmonic_rank: provided(harmonicRank, 'rank', WEB_GRAPH),
      referring_domains: provided(rank?.referringDomains ?? null, 'domains', OPEN_PAGE_RANK),
      captured_pages: provided(pages, 'pages_in_first_1000_captures', COMMON_CRAWL),
      service_authority: estimated(estimate, 'score_0_100'),
    },
    ...(visit && { page: pageFacts(visit) }),
  };
}
