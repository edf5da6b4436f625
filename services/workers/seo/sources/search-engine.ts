export interface SearchQuery {
  readonly query: string;
  /** Two upper-case letters. */
  readonly country: string;
  /** For example `en` or `pt-BR`. */
  readonly language: string;
  /** From 1. */
  readonly page: number;
  /** Results wanted, at most 20. */
  readonly num: number;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** `brave`, or `searxng:google` when a meta search says whom it asked. */
  readonly engine: string;
}

/** A source of organic results, in its own order. */
export interface SearchEngine {
  readonly name: string;
  /** @throws SourceFailed, ServiceError */
  search(query: SearchQuery, signal: AbortSignal): Promise<SearchResult[]>;
}
