import { z } from 'zod';
import { booleanSetting, numberSetting, redisSetting, urlSetting } from '../../../plugins/core/settings';
import { workerProcessFields } from '../../kit/config';

/** Settings of the worker process, from its environment. A live source is on when its switch, URL or key is set. */
export const seoWorkerSettings = z
  .object({
    ...workerProcessFields,
    /** Serves every source of test keys. */
    SANDBOX_URL: urlSetting().optional(),
    /** A SearXNG instance with the json format enabled. Off if absent. */
    SEO_SEARXNG_URL: urlSetting().optional(),
    SEO_BRAVE_URL: urlSetting().default('https://api.search.brave.com'),
    /** Subscription token for Brave Search. Off if absent. */
    SEO_BRAVE_KEY: z.string().optional(),
    SEO_OPEN_PAGE_RANK_URL: urlSetting().default('https://openpagerank.keywordseverywhere.com'),
    /** Off if absent. */
    SEO_OPEN_PAGE_RANK_KEY: z.string().optional(),
    SEO_TRANCO_URL: urlSetting().default('https://tranco-list.eu'),
    SEO_TRANCO: booleanSetting().default(true),
    SEO_COMMON_CRAWL_URL: urlSetting().default('https://index.commoncrawl.org'),
    /** Off by default: the index is slow, and everybody shares it. */
    SEO_COMMON_CRAWL: booleanSetting().default(false),
    /** A domain ranks file of the Common Crawl web graph (`….txt` or `….txt.gz`, sorted by harmonic centrality). Off if absent. */
    SEO_WEB_GRAPH_URL: urlSetting().optional(),
    /** Ranks kept in memory, about 100 bytes each. */
    SEO_WEB_GRAPH_RANKS: numberSetting({ min: 1, max: 10_000_000 }).default(1_000_000),
    /** A text file of spam domains, one per line, or a hosts file. Off if absent. */
    SEO_BLOCK_LIST_URL: urlSetting().optional(),
    SEO_DUCKDUCKGO_URL: urlSetting().default('https://duckduckgo.com'),
    SEO_DUCKDUCKGO: booleanSetting().default(true),
    SEO_GOOGLE_SUGGEST_URL: urlSetting().default('https://suggestqueries.google.com'),
    SEO_GOOGLE_SUGGEST: booleanSetting().default(true),
    REDIS_URL: redisSetting().optional(),
    /** True to store, in Redis, pages that were seen to link to a domain. Later calls of any customer examine them first. */
    SEO_LINK_INDEX: booleanSetting().default(false),
    /** Links stored for each domain, about 200 bytes each, and number of domains: at most 80 MB by default. */
    SEO_LINK_INDEX_MOST: numberSetting({ min: 1, max: 10_000 }).default(200),
    SEO_LINK_INDEX_DOMAINS: numberSetting({ min: 1, max: 1_000_000 }).default(2_000),
    /** Milliseconds for one query to one source. */
    SEO_SOURCE_TIMEOUT_MS: numberSetting({ min: 100, max: 20_000 }).default(8_000),
    /** Milliseconds for one page, redirects included. */
    SEO_PAGE_TIMEOUT_MS: numberSetting({ min: 100, max: 8_000 }).default(8_000),
    /** Milliseconds after which no further page is fetched for a call. */
    SEO_PAGES_BUDGET_MS: numberSetting({ min: 100, max: 40_000 }).default(30_000),
    /** Maximum pages fetched for a call, icons included. A hundred links take at most three each. */
    SEO_PAGES_PER_CALL: numberSetting({ min: 1, max: 300 }).default(300),
    /** Pages fetched at a time by this worker. */
    SEO_PAGES_AT_ONCE: numberSetting({ min: 1, max: 256 }).default(16),
    /** Threads that parse pages. They start when there is a page to parse. */
    SEO_PARSE_THREADS: numberSetting({ min: 1, max: 32 }).default(2),
  })
  .superRefine(({ SEO_LINK_INDEX: isOn, REDIS_URL: redisUrl }, context) => {
    if (!isOn || redisUrl !== undefined) return;
    context.addIssue({ code: 'custom', path: ['REDIS_URL'], message: 'is required when SEO_LINK_INDEX is on' });
  });

export type SeoWorkerSettings = z.output<typeof seoWorkerSettings>;
