import { comparableUrl, hostOf } from '../../../kit/pages/page-url';
import { type PageLink } from '../../../kit/pages/parse-page';
import { siteOf } from './email-address';

/** Names of pages that are likely to show an address, likeliest first. They are searched for in the link's path and text. */
const CONTACT_WORDS: readonly RegExp[] = [
  /contact|kontakt|contatt|संपर्क|contato/i,
  /impressum|imprint|legal-notice|mentions-legales/i,
  /about|reach-?us|ueber-uns|über uns|quienes-somos/i,
];
/** Downloads are not pages. */
const FILE = /\.(?:pdf|jpe?g|png|gif|webp|svg|zip|docx?|xlsx?|mp[34])$/i;

function rankOf({ url, anchor }: PageLink): number {
  return CONTACT_WORDS.findIndex((words) => words.test(url.pathname) || words.test(anchor));
}

/**
 * Up to `most` pages of the same site that are likely to show an address, likeliest first.
 * @param home the page with the links
 */
export function contactPages(links: readonly PageLink[], home: URL, most: number): URL[] {
  const site = siteOf(hostOf(home));
  const known = new Set([comparableUrl(home)]);
  const ranked = links
    .filter(({ url, isHidden }) => !isHidden && siteOf(hostOf(url)) === site && !FILE.test(url.pathname))
    .map((link) => ({ url: link.url, rank: rankOf(link) }))
    .filter(({ rank }) => rank >= 0)
    .sort((one, other) => one.rank - other.rank);
  const pages: URL[] = [];
  for (const { url } of ranked) {
    if (pages.length === most) break;
    const key = comparableUrl(url);
    if (!known.has(key)) pages.push(url);
    known.add(key);
  }
  return pages;
}
