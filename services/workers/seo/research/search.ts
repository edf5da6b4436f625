import pLimit from 'p-limit';
import { comparableUrl, parseUrl, hostOf, isSameSite } from '../../../kit/pages/page-url';
import type { EngineQuery, SearchResult, ResultPage, SearchEngine } from '../sources/search-engine';
import type { SerpFeatures } from '../sources/serp-features';
import { sourcesMissing, type Research } from './research';
import { type Target } from './target';

/** A page that at least one engine found. */
interface FoundPage extends SearchResult {
  readonly parsed: URL;
  /** Its place in each engine's order, from 1. Engines that were not read so far, or do not list it, are absent. */
  readonly ranks: Readonly<Record<string, number>>;
  /** Its place in the merged order, from 1; null when an engine's failure leaves it undetermined. */
  readonly position: number | null;
}

interface Merging {
  /** The page in the form of the engine that ranks it best. */
  found: Omit<FoundPage, 'position'>;
  best: number;
  readonly ranks: Record<string, number>;
}

/**
 * Merges the results of all configured engines into one order: by best rank, ties in the order of the engines, and each web page once.
 * Reading more results never changes the order of known ones, so pages of results do not overlap.
 */
export class MergedSearch {
  private readonly engines: readonly EngineResults[];

  /** @throws ServiceError 503 when no engine is configured */
  constructor(research: Research, query: EngineQuery) {
    const { engines } = research.sources;
    if (engines.length === 0) throw sourcesMissing(research, ['searxng', 'brave']);
    this.engines = engines.map((engine) => new EngineResults(engine, query, research));
  }

  /**
   * The first `count` results of the merged order, or as many as there are. An engine that fails is left out, and the log records it. It
   * takes at most two round trips.
   */
  async first(count: number): Promise<FoundPage[]> {
    // If engines find different pages, each needs to be read only its share. The second round replaces results that they share.
    await this.readTo(Math.ceil(count / this.engines.length));
    if (this.merged().length < count) await this.readTo(count);
    return this.merged().slice(0, count);
  }

  /** Features that the engines show beside their first results; null when no engine that was read has any. */
  features(): SerpFeatures | null {
    const all = this.engines.map(({ features }) => features).filter((each) => each !== undefined);
    if (all.length === 0) return null;
    return {
      answers: all.flatMap(({ answers }) => answers),
      infoboxes: all.flatMap(({ infoboxes }) => infoboxes),
      suggestions: all.flatMap(({ suggestions }) => suggestions),
      corrections: all.flatMap(({ corrections }) => corrections),
    };
  }

  private async readTo(rank: number): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.readTo(rank)));
  }

  private merged(): FoundPage[] {
    const pages = new Map<string, Merging>();
    for (const engine of this.engines) {
      for (const { rank, ...result } of engine.results()) {
        const key = comparableUrl(result.parsed);
        const ranks = pages.get(key)?.ranks ?? {};
        const page = pages.get(key) ?? { found: { ...result, ranks }, best: rank, ranks };
        pages.set(key, page);
        page.ranks[engine.name] = rank;
        if (rank < page.best) Object.assign(page, { best: rank, found: { ...result, ranks } });
      }
    }
    // Beyond the depth of an engine that continues, its results could rank before those of others.
    const settled = Math.min(...this.engines.filter(({ isOver }) => !isOver).map(({ depth }) => depth));
    const certain = Math.min(...this.engines.filter(({ isCutOff, depth }) => isCutOff && depth > 0).map(({ depth }) => depth));
    return [...pages.values()]
      .filter(({ best }) => best <= settled)
      .sort((one, other) => one.best - other.best)
      .map(({ found, best }, index) => ({ ...found, position: best <= certain ? index + 1 : null }));
  }
}

/** A result with its place in its engine's order, from 1. */
interface RankedResult extends SearchResult {
  readonly parsed: URL;
  readonly rank: number;
}

/** Pages of one engine that are fetched at a time. */
const AT_ONCE = 4;

type Page = ResultPage | undefined;

function usable({ url }: SearchResult): URL | undefined {
  const parsed = parseUrl(url);
  return parsed?.protocol === 'https:' || parsed?.protocol === 'http:' ? parsed : undefined;
}

/** The results of one engine for one query, fetched page by page and never twice. */
class EngineResults {
  private readonly pages: Page[] = [];
  private hasEnded = false;

  constructor(
    private readonly engine: SearchEngine,
    private readonly query: EngineQuery,
    private readonly research: Research,
  ) {}

  get name(): string {
    return this.engine.name;
  }

  /** True when the engine has no more results or failed, so nothing further will be known. */
  get isOver(): boolean {
    return this.hasEnded || this.pages.length >= this.engine.mostPages;
  }

  /** True when the engine failed at a page that was fetched, so later results are unknown. */
  get isCutOff(): boolean {
    return this.pages.includes(undefined);
  }

  /** Ranks up to here are known. When the engine has no more results, all ranks are known. */
  get depth(): number {
    const { pageSize, hasFixedPages } = this.engine;
    const known = this.known();
    return hasFixedPages ? known.length * pageSize : known.reduce((sum, page) => sum + page.results.length, 0);
  }

  /** Fetches the pages that ranks up to `rank` need, all at once, in one round trip. */
  async readTo(rank: number): Promise<void> {
    const { pageSize, mostPages } = this.engine;
    if (this.isOver || this.depth >= rank) return;
    const asked = this.pages.length;
    // Pages may hold fewer results than a full page. The rest are assumed to hold as many as the pages so far.
    const usual = asked === 0 ? pageSize : Math.max(1, this.depth / asked);
    const missing = Math.min(mostPages - asked, Math.ceil((rank - this.depth) / usual));
    const slots = pLimit(AT_ONCE);
    const numbers = Array.from({ length: missing }, (_, index) => asked + index + 1);
    const pages = await slots.map(numbers, (page) => this.readPage(page));
    this.pages.push(...pages);
    this.hasEnded = pages.some((page) => page === undefined || page.results.length === 0);
  }

  /** Features beside the results of the engine's first page; undefined when there are none or it failed. */
  get features(): SerpFeatures | undefined {
    return this.pages[0]?.features;
  }

  /** In the engine's order. A web page that the engine shows twice keeps its better rank. */
  results(): RankedResult[] {
    const { pageSize, hasFixedPages } = this.engine;
    const results = new Map<string, RankedResult>();
    let before = 0;
    for (const [index, { results: page }] of this.known().entries()) {
      if (hasFixedPages) before = index * pageSize;
      for (const [place, result] of page.entries()) {
        const parsed = usable(result);
        if (parsed && !results.has(comparableUrl(parsed)))
          results.set(comparableUrl(parsed), { ...result, parsed, rank: before + place + 1 });
      }
      before += page.length;
    }
    return [...results.values()];
  }

  /** Pages before the first page that failed or is empty. */
  private known(): ResultPage[] {
    const end = this.pages.findIndex((page) => page === undefined || page.results.length === 0);
    return (end < 0 ? this.pages : this.pages.slice(0, end)).filter((page) => page !== undefined);
  }

  private readPage(page: number): Promise<Page> {
    const { log, signal } = this.research;
    return log.ask(this.engine.name, async () => ({ value: await this.engine.searchPage(this.query, page, signal) }));
  }
}

/** Search results examined in one step. */
const STEP = 20;
/** Maximum results examined. Later results are not worth a look. */
const MAX_RESULTS = 60;

/**
 * Finds pages of other sites that mention a target. They are candidates, since a mention need not be a link.
 * @throws ServiceError 503 when no engine is configured
 */
export async function discoverLinks(research: Research, { host, domain }: Target, limit: number): Promise<URL[]> {
  const found = new Map<string, URL>();
  const search = new MergedSearch(research, { query: `"${host.replace(/^www\./, '')}" -site:${domain}`, country: 'US', language: 'en' });
  for (let most = STEP; most <= MAX_RESULTS && found.size < limit; most += STEP) {
    const before = found.size;
    for (const { parsed } of await search.first(most)) {
      if (!isSameSite(hostOf(parsed), host)) found.set(parsed.href, parsed);
    }
    if (found.size === before) break;
  }
  return [...found.values()].slice(0, limit);
}
