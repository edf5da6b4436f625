export interface SearchQuery {
  readonly query: string;
  /** Two upper-case letters. */
  readonly country: string;
  /** For example `en` or `pt-BR`. */
  readonly language: string;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** `brave`, or `searxng:google` when a meta search says whom it asked. */
  readonly engine: string;
}

/** A source of organic results, in its own order and its own pages. */
export interface SearchEngine {
  readonly name: string;
  /** Results of a full page. */
  readonly pageSize: number;
  /** True when each page has a fixed share of the ranks, however many results it shows; else ranks go on from page to page. */
  readonly hasFixedPages: boolean;
  /** Pages that it answers. */
  readonly mostPages: number;
  /**
   * @param page from 1; an empty one is after the last
   * @throws SourceFailed, ServiceError
   */
  searchPage(query: SearchQuery, page: number, signal: AbortSignal): Promise<SearchResult[]>;
}
