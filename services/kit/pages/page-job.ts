import { type ParsedPage, type PageLink } from './parse-page';

/** A page as it came, for a thread to read. */
export interface PageJob {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** Absolute. */
  readonly url: string;
}

/** Threads pass plain data: a link's URL goes as text. */
type SentLink = Omit<PageLink, 'url'> & { readonly href: string };
type SentPage = Omit<ParsedPage, 'links'> & { readonly links: readonly SentLink[] };

/** What the thread answers. Anything unforeseen rejects instead. */
export type PageAnswer = { readonly kind: 'page'; readonly page: SentPage } | { readonly kind: 'too_complex' };

export function packPage({ links, ...page }: ParsedPage): SentPage {
  return { ...page, links: links.map(({ url, ...link }) => ({ ...link, href: url.href })) };
}

export function unpackPage({ links, ...page }: SentPage): ParsedPage {
  return { ...page, links: links.map(({ href, ...link }) => ({ ...link, url: new URL(href) })) };
}
