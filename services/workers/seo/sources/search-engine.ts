import { type SerpFeatures } from './serp-features';

export type Device = 'desktop' | 'mobile';

export interface SearchPosition {
  /** In degrees. */
  readonly latitude: number;
  readonly longitude: number;
}

export interface EngineQuery {
  readonly query: string;
  /** Two upper-case letters. */
  readonly country: string;
  /** For example `en` or `pt-BR`. */
  readonly language: string;
  /** A town's name. */
  readonly location?: string | undefined;
  readonly coordinates?: SearchPosition | undefined;
  readonly device?: Device | undefined;
}

/** The details of the searcher's location that an engine uses; null for those that it does not use or that were not given. */
export interface Targeting {
  readonly country: string | null;
  readonly language: string | null;
  readonly location: string | null;
  readonly coordinates: SearchPosition | null;
  readonly device: Device | null;
}

export interface ResultPage {
  readonly results: readonly SearchResult[];
  /** Undefined for an engine without features. */
  readonly features?: SerpFeatures | undefined;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** `brave`, or `searxng:google` when a meta search names its source. */
  readonly engine: string;
}

/** A source of organic results, in its own order and pages. */
export interface SearchEngine {
  readonly name: string;
  /** Results of a full page. */
  readonly pageSize: number;
  /** True when each page covers a fixed range of ranks, however many results it shows; otherwise ranks continue from page to page. */
  readonly hasFixedPages: boolean;
  /** Number of pages that it serves. */
  readonly mostPages: number;
  targetingOf(query: EngineQuery): Targeting;
  /**
   * @param page from 1; an empty page is after the last
   * @throws SourceFailed, ServiceError
   */
  searchPage(query: EngineQuery, page: number, signal: AbortSignal): Promise<ResultPage>;
}
