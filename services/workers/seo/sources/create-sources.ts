import type { Clock, KeyMode } from '../../../../plugins/core/ports';
import type { Metrics } from '../../../kit/metrics';
import type { RedisClient } from '../../../kit/redis-client';
import { UpstreamClient } from '../../../kit/upstream/upstream-client';
import type { SeoWorkerSettings } from '../settings';
import { type BlockList, createBlockList, BLOCK_LIST } from './block-list';
import { createBrave } from './brave';
import { type CrawlIndex, createCrawlIndex, COMMON_CRAWL } from './crawl-index';
import type { LinkIndex } from './link-index';
import { createOpenPageRank, type OpenPageRank, OPEN_PAGE_RANK } from './open-page-rank';
import { createRedisLinkIndex } from './redis-link-index';
import { createPacer } from './pacer';
import type { SearchEngine } from './search-engine';
import { createSearxng } from './searxng';
import { createDuckDuckGo, createGoogleSuggest, type Suggester } from './suggester';
import { createTranco, type Tranco, TRANCO } from './tranco';
import { createWebGraph, type WebGraph, WEB_GRAPH } from './web-graph';

/** True if a source works in a mode, and the setting that turns it on. */
interface SourceState {
  readonly name: string;
  readonly configured: boolean;
  readonly setting: string;
}

/** The sources of one mode. Those that are off are undefined, or missing from their list. */
export interface Sources {
  readonly engines: readonly SearchEngine[];
  readonly suggesters: readonly Suggester[];
  readonly openPageRank: OpenPageRank | undefined;
  readonly tranco: Tranco | undefined;
  readonly webGraph: WebGraph | undefined;
  readonly crawlIndex: CrawlIndex | undefined;
  readonly blockList: BlockList | undefined;
  readonly linkIndex: LinkIndex | undefined;
  readonly states: readonly SourceState[];
}

/** A key for simulators, which only check that there is one. A real key is never sent there. */
const SANDBOX_KEY = 'sandbox';
const LIVE_INTERVAL_MS = 1_000;

export interface SourcesTools {
  readonly settings: SeoWorkerSettings;
  readonly clock: Clock;
  readonly metrics?: Metrics | undefined;
  /** Store of links that were seen. Without it no links are stored. */
  readonly redis?: RedisClient | undefined;
}

type Connected = Record<UpstreamName, { upstream: Upstream; client: UpstreamClient }>;

function sourcesFor(mode: KeyMode, connected: Connected, { settings, clock, redis }: SourcesTools): Sources {
  const isLive = mode === 'live';
  const on = (name: UpstreamName): UpstreamClient | undefined =>
    (isLive ? connected[name].upstream.isOn : settings.SANDBOX_URL !== undefined) ? connected[name].client : undefined;
  const made = <T>(name: UpstreamName, create: (client: UpstreamClient) => T): T | undefined => {
    const client = on(name);
    return client && create(client);
  };
  const keyOf = (key: string | undefined): string => (isLive ? (key ?? '') : SANDBOX_KEY);
  const pacer = () => createPacer(isLive ? LIVE_INTERVAL_MS : 0, clock);
  const listOptions = { timeoutMs: settings.SEO_SOURCE_TIMEOUT_MS, clock };
  const fileOf = (client: UpstreamClient, name: UpstreamName) => ({
    client,
    mode,
    packed: (isLive ? connected[name].upstream.liveUrl : connected[name].upstream.sandboxPath)?.endsWith('.gz') ?? false,
  });
  return {
    engines: [
      made('searxng', (client) => createSearxng(client, mode)),
      made('brave', (client) => createBrave({ client, mode, token: keyOf(settings.SEO_BRAVE_KEY) })),
    ].filter((each) => each !== undefined),
    suggesters: [
      made('duckDuckGo', (client) => createDuckDuckGo(client, mode)),
      made('google', (client) => createGoogleSuggest(client, mode)),
    ].filter((each) => each !== undefined),
    openPageRank: made('openPageRank', (client) => createOpenPageRank({ client, mode, apiKey: keyOf(settings.SEO_OPEN_PAGE_RANK_KEY) })),
    tranco: made('tranco', (client) => createTranco({ client, mode, pace: pacer() })),
    webGraph: made('webGraph', (client) =>
      createWebGraph({ file: fileOf(client, 'webGraph'), most: settings.SEO_WEB_GRAPH_RANKS, ...listOptions }),
    ),
    crawlIndex: made('crawlIndex', (client) => createCrawlIndex({ client, mode, pace: pacer() })),
    blockList: made('blockList', (client) => createBlockList({ file: fileOf(client, 'blockList'), ...listOptions })),
    linkIndex:
      redis &&
      createRedisLinkIndex({
        redis,
        mode,
        most: settings.SEO_LINK_INDEX_MOST,
        mostDomains: settings.SEO_LINK_INDEX_DOMAINS,
        now: () => clock.now(),
      }),
    states: Object.entries(connected).map(([name, { upstream }]) => ({
      name: upstream.name,
      configured: on(name as UpstreamName) !== undefined,
      setting: isLive ? upstream.setting : 'SANDBOX_URL',
    })),
  };
}

/** Creates clients for all sources, and decides which of them serve live and test keys. Both use the same adapters. */
export function createSources(tools: SourcesTools): { readonly byMode: Readonly<Record<KeyMode, Sources>>; close(): Promise<void> } {
  const { settings, metrics } = tools;
  const connect = (upstream: Upstream) => {
    const sandboxUrl = settings.SANDBOX_URL === undefined ? undefined : settings.SANDBOX_URL + upstream.sandboxPath;
    const target = { liveUrl: upstream.liveUrl, liveSetting: upstream.setting, sandboxUrl };
    const timeoutMs = settings.SEO_SOURCE_TIMEOUT_MS;
    const headers = { 'user-agent': 'tollgate' };
    return { upstream, client: new UpstreamClient({ name: upstream.name, target, timeoutMs, headers, metrics }) };
  };
  const connected = Object.fromEntries(
    Object.entries(upstreamsOf(settings)).map(([name, upstream]) => [name, connect(upstream)]),
  ) as Connected;
  return {
    byMode: { live: sourcesFor('live', connected, tools), test: sourcesFor('test', connected, tools) },
    close: async () => {
      await Promise.all(Object.values(connected).map(({ client }) => client.close()));
    },
  };
}

/** The address of a source. */
interface Upstream {
  readonly name: string;
  /** The setting that turns it on. */
  readonly setting: string;
  readonly liveUrl: string | undefined;
  /** True if it is on in live mode. In test mode all sources are on. */
  readonly isOn: boolean;
  readonly sandboxPath: string;
}

type UpstreamName = keyof ReturnType<typeof upstreamsOf>;

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

/** All sources, with the settings that turn them on, in the order of the report. */
function upstreamsOf(settings: SeoWorkerSettings) {
  const all = { ...enginesOf(settings), ...figuresOf(settings), ...suggestersOf(settings) };
  return all satisfies Record<string, Upstream>;
}
