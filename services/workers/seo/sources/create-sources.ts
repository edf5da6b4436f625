import { type Clock, type KeyMode } from '../../../../plugins/core/ports';
import { type Metrics } from '../../../kit/metrics';
import { type RedisClient } from '../../../kit/redis-client';
import { UpstreamClient } from '../../../kit/upstream/upstream-client';
import { type SeoWorkerSettings } from '../settings';
import { type BlockList, createBlockList } from './block-list';
import { createBrave } from './brave';
import { type CrawlIndex, createCrawlIndex } from './crawl-index';
import { type LinkIndex } from './link-index';
import { createOpenPageRank, type OpenPageRank } from './open-page-rank';
import { createRedisLinkIndex } from './redis-link-index';
import { createPacer } from './pacer';
import { type SearchEngine } from './search-engine';
import { createSearxng } from './searxng';
import { createDuckDuckGo, createGoogleSuggest, type Suggester } from './suggester';
import { createTranco, type Tranco } from './tranco';
import { type Upstream, type UpstreamName, upstreamsOf } from './upstreams';
import { createWebGraph, type WebGraph } from './web-graph';

/** Whether a source answers in a mode, and the setting that switches it on. */
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

/** A key for a simulator, which only looks whether there is one: an operator's key is never sent there. */
const SANDBOX_KEY = 'sandbox';
const LIVE_INTERVAL_MS = 1_000;

export interface SourcesTools {
  readonly settings: SeoWorkerSettings;
  readonly clock: Clock;
  readonly metrics?: Metrics | undefined;
  /** Where links that were seen are kept; they are not unless given. */
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

/** Clients for every source, and which of them answer live and test keys. The same adapters serve both. */
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
