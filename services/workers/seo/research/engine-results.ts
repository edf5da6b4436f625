import pLimit from 'p-limit';
import { comparableUrl, parseUrl } from '../../../kit/pages/page-url';
import { type ResultPage, type SearchEngine, type SearchQuery, type SearchResult } from '../sources/search-engine';
import { type SerpFeatures } from '../sources/serp-features';
import { type Research } from './research';

/** A result with its place in its engine's order, from 1. */
export interface RankedResult extends SearchResult {
  readonly parsed: URL;
  readonly rank: number;
}

/** Pages of one engine that are asked for at a time. */
const AT_ONCE = 4;

type Page = ResultPage | undefined;

function usable({ url }: SearchResult): URL | undefined {
  const parsed = parseUrl(url);
  return parsed?.protocol === 'https:' || parsed?.protocol === 'http:' ? parsed : undefined;
}

/** What one engine says to one query, asked for page by page and never twice for the same. */
export class EngineResults {
  private readonly pages: Page[] = [];
  private hasEnded = false;

  constructor(
    private readonly engine: SearchEngine,
    private readonly query: SearchQuery,
    private readonly research: Research,
  ) {}

  get name(): string {
    return this.engine.name;
  }

  /** The engine has no more, or failed: nothing further will be known. */
  get isOver(): boolean {
    return this.hasEnded || this.pages.length >= this.engine.mostPages;
  }

  /** Whether the engine failed at a page that was asked for, so that what comes after it is not known. */
  get isCutOff(): boolean {
    return this.pages.includes(undefined);
  }

  /** Ranks up to here are known: all of them when the engine has no more. */
  get depth(): number {
    const { pageSize, hasFixedPages } = this.engine;
    const known = this.known();
    return hasFixedPages ? known.length * pageSize : known.reduce((sum, page) => sum + page.results.length, 0);
  }

  /** Asks for the pages that ranks up to `rank` need, side by side: one round trip. */
  async readTo(rank: number): Promise<void> {
    const { pageSize, mostPages } = this.engine;
    if (this.isOver || this.depth >= rank) return;
    const asked = this.pages.length;
    // Pages may hold fewer results than a full one: as many as the last ones did.
    const usual = asked === 0 ? pageSize : Math.max(1, this.depth / asked);
    const missing = Math.min(mostPages - asked, Math.ceil((rank - this.depth) / usual));
    const slots = pLimit(AT_ONCE);
    const numbers = Array.from({ length: missing }, (_, index) => asked + index + 1);
    const pages = await slots.map(numbers, (page) => this.readPage(page));
    this.pages.push(...pages);
    this.hasEnded = pages.some((page) => page === undefined || page.results.length === 0);
  }

  /** What the engine shows beside the results of its first page; undefined when it gives none or failed. */
  get features(): SerpFeatures | undefined {
    return this.pages[0]?.features;
  }

  /** In the engine's order; a page of the web that it shows twice has its better rank. */
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

  /** Pages before the first that failed or is empty. */
  private known(): ResultPage[] {
    const end = this.pages.findIndex((page) => page === undefined || page.results.length === 0);
    return (end < 0 ? this.pages : this.pages.slice(0, end)).filter((page) => page !== undefined);
  }

  private readPage(page: number): Promise<Page> {
    const { log, signal } = this.research;
    return log.ask(this.engine.name, async () => ({ value: await this.engine.searchPage(this.query, page, signal) }));
  }
}
