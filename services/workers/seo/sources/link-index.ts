/** Name of the source of links that earlier calls saw, in every response. */
export const LINK_INDEX = 'link_index';

/** A link that was read on a page. */
export interface SeenLink {
  /** The page. */
  readonly source: string;
  /** Where the link leads. */
  readonly target: string;
  readonly seenAtMs: number;
}

/** Links that were seen on pages, by the domain to which they lead. A method rejects when the store cannot be used. */
export interface LinkIndex {
  /** The most recent first. */
  find(domain: string): Promise<SeenLink[]>;
  /** Remembers links, or that they still exist. If a domain has too many, its oldest are forgotten. */
  add(domain: string, links: readonly SeenLink[]): Promise<void>;
  remove(domain: string, links: readonly SeenLink[]): Promise<void>;
}
