import { type ParsedPage, type PageLink } from './parse-page';
import { type RobotsVerdict } from './robots';

/** A page as it was sent, for a thread to unpack and read. */
export interface PackedPage {
  readonly bytes: Uint8Array;
  /** `content-encoding`; absent when the bytes are the page's. */
  readonly encoding?: string | undefined;
  readonly contentType: string;
  /** Absolute. */
  readonly url: string;
}

export interface PageJob extends PackedPage {
  /** Unpacked. */
  readonly maxBytes: number;
}

/** A robots.txt as it was sent, and the page that it is asked about. */
export interface RobotsJob {
  readonly bytes: Uint8Array;
  /** `content-encoding`; absent when the bytes are the text's. */
  readonly encoding?: string | undefined;
  /** Absolute, of the same site. */
  readonly url: string;
}

export type RobotsAnswer = RobotsVerdict | 'encoding_refused';

/** Why a page that was fetched is not read. */
export type PageRefusal = 'too_complex' | 'too_large' | 'encoding_refused';

/** Threads pass plain data: a link's URL goes as text. */
type SentLink = Omit<PageLink, 'url'> & { readonly href: string };
type SentPage = Omit<ParsedPage, 'links'> & { readonly links: readonly SentLink[] };

/** What the thread answers. Anything unforeseen rejects instead. */
export type PageAnswer = { readonly kind: 'page'; readonly page: SentPage } | { readonly kind: 'refused'; readonly reason: PageRefusal };

export function packPage({ links, ...page }: ParsedPage): SentPage {
  return { ...page, links: links.map(({ url, ...link }) => ({ ...link, href: url.href })) };
}

export function unpackPage({ links, ...page }: SentPage): ParsedPage {
  return { ...page, links: links.map(({ href, ...link }) => ({ ...link, url: new URL(href) })) };
}
