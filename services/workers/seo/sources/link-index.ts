/** Name of the source of links that earlier calls saw, in every response. */
export const LINK_INDEX = 'link_index';

/** A link that was found on a page. */
export interface SeenLink {
  /** The page. */
  readonly source: string;
  /** The address that the link points to. */
  readonly target: string;
  readonly seenAtMs: number;
}

/** Links that were seen on pages, by the domain that they point to. A method rejects when the store cannot be used. */
export interface LinkIndex {
  /** Most recent first. */
  find(domain: string): Promise<SeenLink[]>;
  /** Stores links, or confirms that they still exist. If a domain has too many, its oldest links are dropped. */
  add(domain: string, links: readonly SeenLink[]): Promise<void>;
  remove(domain: string, links: readonly SeenLink[]): Promise<void>;
}
