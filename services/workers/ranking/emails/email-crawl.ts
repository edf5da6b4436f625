import pLimit from 'p-limit';
import { type KeyMode } from '../../../../plugins/core/ports';
import { within } from '../../../kit/deadline';
import { type FetchLimits } from '../../../kit/pages/fetch-limits';
import { type PageParser } from '../../../kit/pages/page-parser';
import { type PagePort } from '../../../kit/pages/page-port';
import { PageReader } from '../../../kit/pages/page-reader';
import { hostOf, parseUrl } from '../../../kit/pages/page-url';
import { type WorkerCall } from '../../../kit/worker/worker-call';
import { contactPages } from './contact-pages';
import { siteOf } from './email-address';
import { emailsInPage } from './emails-in-page';

export type CrawlCall = Pick<WorkerCall, 'mode' | 'subscriptionId' | 'signal' | 'timeLeftMs' | 'log'>;

export interface EmailCrawlOptions {
  /** Test is undefined without a sandbox. */
  readonly ports: Readonly<Record<KeyMode, PagePort | undefined>>;
  /** Closed with the crawl. */
  readonly parser: PageParser;
  /** Of all calls of this worker together. */
  readonly limits: FetchLimits;
  /** Milliseconds for all sites of a call, if its own deadline leaves as much. */
  readonly budgetMs: number;
  /** For one page, redirects included. */
  readonly pageTimeoutMs: number;
}

/** Looks for e-mail addresses on the websites of businesses. */
export interface EmailCrawl {
  /**
   * Addresses by website; a site that refuses, fails or is not done in time has none.
   * Never later than the call's deadline. @throws the signal's reason when the call is cancelled
   */
  findEmails(websites: readonly string[], call: CrawlCall): Promise<ReadonlyMap<string, readonly string[]>>;
  close(): Promise<void>;
}

/** Besides the home page; a site that hides its address better than that wants no mail. */
const CONTACT_PAGES = 2;
const SITES_AT_ONCE = 8;
/** Kept back from the call's deadline for the answer's way. */
const RESERVE_MS = 1_000;
/** With less there is no use to begin. */
const LEAST_MS = 50;

/** Asks page after page until one shows an address. */
async function emailsOf(website: string, pages: PageReader): Promise<readonly string[]> {
  const start = parseUrl(website);
  if (!start) return [];
  const site = siteOf(hostOf(start));
  const home = await pages.read(start.href);
  // A site that leads elsewhere is somebody else's: its addresses would be, too.
  if (home.state !== 'read' || siteOf(hostOf(home.url)) !== site) return [];
  const emails = emailsInPage(home.page, site);
  if (emails.length > 0) return emails;
  for (const url of contactPages(home.page.links, home.url, CONTACT_PAGES)) {
    const visit = await pages.read(url.href);
    const found = visit.state === 'read' && siteOf(hostOf(visit.url)) === site ? emailsInPage(visit.page, site) : [];
    if (found.length > 0) return found;
  }
  return [];
}

interface Crawl extends Omit<EmailCrawlOptions, 'ports'> {
  readonly port: PagePort;
}

/** What was found within the budget; what is still running after it is cut off. */
async function crawlWithin(
  { port, parser, limits, budgetMs, pageTimeoutMs }: Crawl,
  websites: readonly string[],
  call: CrawlCall,
): Promise<Map<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  const crawl = async (signal: AbortSignal): Promise<void> => {
    const pages = new PageReader({ port, parser, limits, timeoutMs: Math.min(pageTimeoutMs, budgetMs), budgetMs, signal, caller: call });
    const atOnce = pLimit(SITES_AT_ONCE);
    const crawlSite = async (website: string): Promise<void> => {
      if (signal.aborted) return;
      try {
        found.set(website, await emailsOf(website, pages));
      } catch (error) {
        if (!signal.aborted) call.log.warn({ err: error }, 'a website could not be read');
      }
    };
    await Promise.all(websites.map((website) => atOnce(crawlSite, website)));
    pages.close();
  };
  await within(budgetMs, crawl, call.signal).catch(() => undefined);
  call.signal.throwIfAborted();
  call.log.debug({ websites: websites.length, answered: found.size }, 'websites were searched for e-mail addresses');
  return new Map(found);
}

export function createEmailCrawl({ ports, ...options }: EmailCrawlOptions): EmailCrawl {
  return {
    async findEmails(websites, call) {
      const port = ports[call.mode];
      const leftMs = Math.min(options.budgetMs, call.timeLeftMs() - RESERVE_MS);
      if (!port || websites.length === 0 || leftMs < LEAST_MS) return new Map();
      return crawlWithin({ ...options, port, budgetMs: leftMs }, [...new Set(websites)], call);
    },
    async close() {
      await Promise.all([ports.live?.close(), ports.test?.close(), options.parser.close()]);
    },
  };
}
