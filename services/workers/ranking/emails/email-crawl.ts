import pLimit from 'p-limit';
import { type KeyMode } from '../../../../plugins/core/ports';
import { within } from '../../../kit/deadline';
import { type FetchLimits } from '../../../kit/pages/fetch-limits';
import { type PageParser } from '../../../kit/pages/page-parser';
import { type PagePort } from '../../../kit/pages/page-port';
import { PageReader } from '../../../kit/pages/page-reader';
import { hostOf, parseUrl, comparableUrl } from '../../../kit/pages/page-url';
import { type WorkerCall } from '../../../kit/worker/worker-call';
import { type PageLink } from '../../../kit/pages/parse-page';
import { siteOf } from './email-address';
import { emailsInPage } from './emails-in-page';

export type CrawlCall = Pick<WorkerCall, 'mode' | 'subscriptionId' | 'signal' | 'timeLeftMs' | 'log'>;

interface EmailCrawlOptions {
  /** Undefined for test keys without a sandbox. */
  readonly ports: Readonly<Record<KeyMode, PagePort | undefined>>;
  /** The crawl closes it when it closes. */
  readonly parser: PageParser;
  /** Shared by all calls of this worker. */
  readonly limits: FetchLimits;
  /** Milliseconds for all sites of a call, unless its own deadline is nearer. */
  readonly budgetMs: number;
  /** Milliseconds for one page, redirects included. */
  readonly pageTimeoutMs: number;
}

/** The result for a website: no addresses if all chosen pages were read, and null with a reason if some could not be read. */
export type SiteEmails =
  | { readonly emails: readonly string[]; readonly reason: null }
  | {
      readonly emails: null;
      /** `not_configured`, `no_website`, `timeout`, `other_site` (the address leads to another site), or a reason of {@link PageReader}. */
      readonly reason: string;
    };

/** Looks for email addresses on the websites of businesses. */
export interface EmailCrawl {
  /**
   * The result for each website, never later than the call's deadline.
   * @throws the signal's reason when the call is cancelled
   */
  findEmails(websites: readonly string[], call: CrawlCall): Promise<ReadonlyMap<string, SiteEmails>>;
  close(): Promise<void>;
}

/** Maximum pages besides the home page. A site that hides its address better wants no mail. */
const CONTACT_PAGES = 2;
const SITES_AT_ONCE = 8;
/** Milliseconds of the call's deadline that are reserved for sending the response. */
const RESERVE_MS = 1_000;
/** A crawl does not start with less time than this. */
const MIN_MS = 50;

export function unknownEmails(reason: string): SiteEmails {
  return { emails: null, reason };
}

/** Reads one page after another until a page shows an address. */
async function emailsOf(website: string, pages: PageReader): Promise<SiteEmails> {
  const start = parseUrl(website);
  if (!start) return unknownEmails('url_invalid');
  const site = siteOf(hostOf(start));
  const home = await pages.read(start.href);
  if (home.state !== 'read') return unknownEmails(home.reason);
  // A site that redirects elsewhere leads to somebody else's site, and the addresses there are not the business's.
  if (siteOf(hostOf(home.url)) !== site) return unknownEmails('other_site');
  const emails = emailsInPage(home.page, site);
  if (emails.length > 0) return { emails, reason: null };
  let missed: string | undefined;
  for (const url of contactPages(home.page.links, home.url, CONTACT_PAGES)) {
    const visit = await pages.read(url.href);
    if (visit.state !== 'read') {
      if (visit.state !== 'gone') missed ??= visit.reason;
      continue;
    }
    const found = siteOf(hostOf(visit.url)) === site ? emailsInPage(visit.page, site) : [];
    if (found.length > 0) return { emails: found, reason: null };
  }
  return missed === undefined ? { emails: [], reason: null } : unknownEmails(missed);
}

interface Crawl extends Omit<EmailCrawlOptions, 'ports'> {
  readonly port: PagePort;
}

/** Returns what was found within the budget, and cancels the rest. */
async function crawlWithin(
  { port, parser, limits, budgetMs, pageTimeoutMs }: Crawl,
  websites: readonly string[],
  call: CrawlCall,
): Promise<Map<string, SiteEmails>> {
  const found = new Map<string, SiteEmails>();
  const crawl = async (signal: AbortSignal): Promise<void> => {
    const pages = new PageReader({ port, parser, limits, timeoutMs: Math.min(pageTimeoutMs, budgetMs), budgetMs, signal, caller: call });
    const atOnce = pLimit(SITES_AT_ONCE);
    const crawlSite = async (website: string): Promise<void> => {
      if (signal.aborted) return;
      try {
        found.set(website, await emailsOf(website, pages));
      } catch (error) {
        if (signal.aborted) return;
        call.log.warn({ err: error }, 'a website could not be read');
        found.set(website, unknownEmails('unreachable'));
      }
    };
    await Promise.all(websites.map((website) => atOnce(crawlSite, website)));
    pages.close();
  };
  await within(budgetMs, crawl, call.signal).catch(() => undefined);
  call.signal.throwIfAborted();
  call.log.debug({ websites: websites.length, answered: found.size }, 'websites were searched for email addresses');
  return new Map(websites.map((website) => [website, found.get(website) ?? unknownEmails('timeout')]));
}

export function createEmailCrawl({ ports, ...options }: EmailCrawlOptions): EmailCrawl {
  return {
    async findEmails(websites, call) {
      const port = ports[call.mode];
      const leftMs = Math.min(options.budgetMs, call.timeLeftMs() - RESERVE_MS);
      const sites = [...new Set(websites)];
      if (!port || leftMs < MIN_MS) {
        return new Map(sites.map((website) => [website, unknownEmails(port ? 'timeout' : 'not_configured')]));
      }
      return sites.length === 0 ? new Map() : crawlWithin({ ...options, port, budgetMs: leftMs }, sites, call);
    },
    async close() {
      await Promise.all([ports.live?.close(), ports.test?.close(), options.parser.close()]);
    },
  };
}

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
