import { type SeoWorkerSettings } from '../settings';
import { BLOCK_LIST } from './block-list';
import { COMMON_CRAWL } from './crawl-index';
import { OPEN_PAGE_RANK } from './open-page-rank';
import { TRANCO } from './tranco';
import { WEB_GRAPH } from './web-graph';

/** Where a source is reached. */
export interface Upstream {
  readonly name: string;
  /** Switches it on. */
  readonly setting: string;
  readonly liveUrl: string | undefined;
  /** In live mode; in test mode all are. */
  readonly isOn: boolean;
  readonly sandboxPath: string;
}

export type UpstreamName = keyof ReturnType<typeof upstreamsOf>;

function enginesOf({ SEO_SEARXNG_URL: searxng, SEO_BRAVE_URL, SEO_BRAVE_KEY }: SeoWorkerSettings) {
  return {
    searxng: { name: 'searxng', setting: 'SEO_SEARXNG_URL', liveUrl: searxng, isOn: searxng !== undefined, sandboxPath: '/seo-searxng' },
    brave: {
      name: 'brave',
      setting: 'SEO_BRAVE_KEY',
      liveUrl: SEO_BRAVE_URL,
      isOn: SEO_BRAVE_KEY !== undefined,
      sandboxPath: '/seo-brave',
    },
  };
}

function suggestersOf(settings: SeoWorkerSettings) {
  return {
    duckDuckGo: {
      name: 'duckduckgo_suggestions',
      setting: 'SEO_DUCKDUCKGO',
      liveUrl: settings.SEO_DUCKDUCKGO_URL,
      isOn: settings.SEO_DUCKDUCKGO,
      sandboxPath: '/seo-duckduckgo',
    },
    google: {
      name: 'google_suggestions',
      setting: 'SEO_GOOGLE_SUGGEST',
      liveUrl: settings.SEO_GOOGLE_SUGGEST_URL,
      isOn: settings.SEO_GOOGLE_SUGGEST,
      sandboxPath: '/seo-google-suggest',
    },
  };
}

/** Sources of figures about a site. */
function figuresOf(settings: SeoWorkerSettings) {
  const { SEO_WEB_GRAPH_URL: webGraph, SEO_BLOCK_LIST_URL: blockList } = settings;
  return {
    openPageRank: {
      name: OPEN_PAGE_RANK,
      setting: 'SEO_OPEN_PAGE_RANK_KEY',
      liveUrl: settings.SEO_OPEN_PAGE_RANK_URL,
      isOn: settings.SEO_OPEN_PAGE_RANK_KEY !== undefined,
      sandboxPath: '/seo-open-page-rank',
    },
    tranco: {
      name: TRANCO,
      setting: 'SEO_TRANCO',
      liveUrl: settings.SEO_TRANCO_URL,
      isOn: settings.SEO_TRANCO,
      sandboxPath: '/seo-tranco',
    },
    webGraph: {
      name: WEB_GRAPH,
      setting: 'SEO_WEB_GRAPH_URL',
      liveUrl: webGraph,
      isOn: webGraph !== undefined,
      sandboxPath: '/seo-common-crawl/domain-ranks.txt.gz',
    },
    crawlIndex: {
      name: COMMON_CRAWL,
      setting: 'SEO_COMMON_CRAWL',
      liveUrl: settings.SEO_COMMON_CRAWL_URL,
      isOn: settings.SEO_COMMON_CRAWL,
      sandboxPath: '/seo-common-crawl',
    },
    blockList: {
      name: BLOCK_LIST,
      setting: 'SEO_BLOCK_LIST_URL',
      liveUrl: blockList,
      isOn: blockList !== undefined,
      sandboxPath: '/seo-block-list/domains.txt',
    },
  };
}

/** Every source, with the setting that switches it on; in the order in which they are told. */
export function upstreamsOf(settings: SeoWorkerSettings) {
  const all = { ...enginesOf(settings), ...figuresOf(settings), ...suggestersOf(settings) };
  return all satisfies Record<string, Upstream>;
}
