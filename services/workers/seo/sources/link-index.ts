/** The source of what earlier calls saw; its name in every answer. */
export const LINK_INDEX = 'link_index';

/** A link that was read on a page. */
export interface SeenLink {
  /** The page. */
  readonly source: string;
  /** Where the link leads. */
  readonly target: string;
  readonly seenAtMs: number;
}

/** Links that pages were seen to hold, by the domain that they lead to. A method rejects when the store cannot be used. */
export interface LinkIndex {
  /** Seen last first. */
  find(domain: string): Promise<SeenLink[]>;
  /** Remembers links, or that they are still there; the oldest of a domain that has too many are forgotten. */
  add(domain: string, links: readonly SeenLink[]): Promise<void>;
  remove(domain: string, links: readonly SeenLink[]): Promise<void>;
}
