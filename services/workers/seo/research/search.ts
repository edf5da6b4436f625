import { comparableUrl } from '../../../kit/pages/page-url';
import { type SearchQuery, type SearchResult } from '../sources/search-engine';
import { type SerpFeatures } from '../sources/serp-features';
import { EngineResults } from './engine-results';
import { sourcesMissing, type Research } from './research';

/** A page that at least one engine found. */
export interface FoundPage extends SearchResult {
  readonly parsed: URL;
  /** Its place in each engine's order, from 1; engines that were not read as far, or do not have it, are missing. */
  readonly ranks: Readonly<Record<string, number>>;
  /** Its place in the merged order, from 1; null where an engine's failure leaves that open. */
  readonly position: number | null;
}

interface Merging {
  /** As the engine shows it that ranks it best. */
  found: Omit<FoundPage, 'position'>;
  best: number;
  readonly ranks: Record<string, number>;
}

/**
 * The results of every configured engine in one order: by best rank, ties in the order of the engines, each page of the web once. The
 * order of what is known never changes as more is read, so that windows of it do not overlap.
 */
export class MergedSearch {
  private readonly engines: readonly EngineResults[];

  /** @throws ServiceError 503 when no engine is configured */
  constructor(research: Research, query: SearchQuery) {
    const { engines } = research.sources;
    if (engines.length === 0) throw sourcesMissing(research, ['searxng', 'brave']);
    this.engines = engines.map((engine) => new EngineResults(engine, query, research));
  }

  /** The first results of the merged order, as many as there are. An engine that fails is missing; the log says so. Two round trips at most. */
  async first(count: number): Promise<FoundPage[]> {
    // Engines that find different pages need to be read half as far: the second round is for what they share.
    await this.readTo(Math.ceil(count / this.engines.length));
    if (this.merged().length < count) await this.readTo(count);
    return this.merged().slice(0, count);
  }

  /** What the engines show beside their first results; null when none that gives such was read. */
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
    // What an engine that goes on would say beyond its depth could come before the others' there.
    const settled = Math.min(...this.engines.filter(({ isOver }) => !isOver).map(({ depth }) => depth));
    const certain = Math.min(...this.engines.filter(({ isCutOff, depth }) => isCutOff && depth > 0).map(({ depth }) => depth));
    return [...pages.values()]
      .filter(({ best }) => best <= settled)
      .sort((one, other) => one.best - other.best)
      .map(({ found, best }, index) => ({ ...found, position: best <= certain ? index + 1 : null }));
  }
}
