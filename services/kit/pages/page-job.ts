import { type ParsedPage, type PageLink } from './parse-page';
import { type RobotsVerdict } from './robots';

/** A page as it was sent, for a thread to unpack and read. */
export interface PackedPage {
  readonly bytes: Uint8Array;
  /** `content-encoding`; absent when the bytes are the page's. */
  readonly encoding?: string | undefined;
  readonly contentType: string;
  /** Absolute URL. */
  readonly url: string;
}

export interface PageJob extends PackedPage {
  /** Maximum bytes after unpacking. */
  readonly maxBytes: number;
}

/** A robots.txt as it was sent, and the URL of the page to judge by it. */
export interface RobotsJob {
  readonly bytes: Uint8Array;
  /** `content-encoding`; absent when the bytes are the text's. */
  readonly encoding?: string | undefined;
  /** Absolute URL on the same site. */
  readonly url: string;
}

export type RobotsAnswer = RobotsVerdict | 'encoding_refused';

/** Why a fetched page is not read. */
export type PageRefusal = 'too_complex' | 'too_large' | 'encoding_refused';

/** Threads pass plain data, so a link's URL is sent as text. */
type SentLink = Omit<PageLink, 'url'> & { readonly href: string };
type SentPage = Omit<ParsedPage, 'links'> & { readonly links: readonly SentLink[] };

/** The thread's response. Anything unforeseen rejects instead. */
export type PageAnswer = { readonly kind: 'page'; readonly page: SentPage } | { readonly kind: 'refused'; readonly reason: PageRefusal };

export function packPage({ links, ...page }: ParsedPage): SentPage {
  return { ...page, links: links.map(({ url, ...link }) => ({ ...link, href: url.href })) };
}

export function unpackPage({ links, ...page }: SentPage): ParsedPage {
  return { ...page, links: links.map(({ href, ...link }) => ({ ...link, url: new URL(href) })) };
}
