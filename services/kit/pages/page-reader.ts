import { setMaxListeners } from 'node:events';
import { type GuardedResponse } from '../upstream/guarded-fetch';
import { DeadlinePassed } from '../deadline';
import { ownerOf } from '../fair-limit';
import { type PlaceOwner } from '../places';
import { FetchRefused } from '../upstream/pinned-connector';
import { anySignal } from '../tracing';
import { type FetchLimits } from './fetch-limits';
import { type RobotsJob } from './page-job';
import { type PageParser, PageUnreadable } from './page-parser';
import { type PagePort } from './page-port';
import { hostOf, parseUrl, refuseUrl } from './page-url';
import { type ParsedPage } from './parse-page';
import { keepOfRobots, type RobotsVerdict, verdictOfStatus } from './robots';

/** A robots.txt as it was sent, or the verdict for all pages that follows from its absence. */
type SiteRules = 'allowed' | 'forbidden' | Omit<RobotsJob, 'url'>;

interface Visited {
  /** Status of the last hop that responded, or null when none did. */
  readonly status: number | null;
  /** Null when the site's rules could not be read. */
  readonly robotsAllowed: boolean | null;
}

/** A page that was read. */
export interface ReadPage extends Visited {
  readonly state: 'read';
  readonly status: number;
  /** URL after redirects. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly page: ParsedPage;
}

/** `blocked`: the site does not want us there. `gone`: the site says that the page does not exist. `unreachable`: everything else. */
interface MissedPage extends Visited {
  readonly state: 'blocked' | 'gone' | 'unreachable';
  /**
   * A refusal of the guarded fetch, `robots_txt`, `robots_too_complex`, `http_<status>`, `too_complex`, `parse_timeout`, `too_many_hosts`
   * or `page_budget_spent`.
   */
  readonly reason: string;
}

export type PageVisit = ReadPage | MissedPage;

/** Reasons for which a page is never requested. */
const NOT_ASKED: readonly string[] = ['robots_txt', 'robots_too_complex', 'page_budget_spent', 'too_many_hosts'];

/** True if the page, or one that redirected to it, was requested. */
export function wasAsked(visit: PageVisit): boolean {
  return visit.state === 'read' || visit.status !== null || !NOT_ASKED.includes(visit.reason);
}

export interface PageReaderOptions {
  readonly port: PagePort;
  readonly parser: Pick<PageParser, 'parse' | 'askRobots'>;
  readonly limits: FetchLimits;
  /** All calls of one caller share places and turns. Without it, each call is its own caller. */
  readonly caller?: PlaceOwner;
  /** Milliseconds for one page, redirects included. */
  readonly timeoutMs: number;
  /** Milliseconds for all pages of the call. */
  readonly budgetMs: number;
  /** Maximum pages of the call, icons included. Unlimited unless given. */
  readonly mostPages?: number;
  readonly signal: AbortSignal;
}

/** What a call may fetch, and what it has fetched. */
export interface CrawlSpending {
  readonly pagesAllowed: number;
  readonly pagesAsked: number;
  readonly msAllowed: number;
  readonly msSpent: number;
}

const MAX_REDIRECTS = 3;
/** Host names that one call may look up: a hundred pages, each with one redirect to another host. */
const MAX_HOSTS = 200;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HTML = /^\s*(text\/html|application\/xhtml\+xml)\s*(;|$)/i;
const ACCEPT = { accept: 'text/html,application/xhtml+xml' };

function missed(state: MissedPage['state'], reason: string, visited: Partial<Visited> = {}): MissedPage {
  return { state, reason, status: null, robotsAllowed: null, ...visited };
}

/** The result for a final response that holds no page. */
function refuseAnswer({ status, headers }: GuardedResponse): MissedPage | undefined {
  const visited = { status, robotsAllowed: true };
  if (status === 404 || status === 410) return missed('gone', `http_${status}`, visited);
  if (status === 401 || status === 403 || status === 429 || status === 451) return missed('blocked', `http_${status}`, visited);
  if (status < 200 || status > 299) return missed('unreachable', `http_${status}`, visited);
  return HTML.test(headers['content-type'] ?? '') ? undefined : missed('unreachable', 'content_type_refused', visited);
}

function refuseByRobots(verdict: RobotsVerdict, status: number | null): MissedPage | undefined {
  if (verdict === 'allowed') return undefined;
  if (verdict === 'forbidden') return missed('blocked', 'robots_txt', { status, robotsAllowed: false });
  return missed('unreachable', 'robots_too_complex', { status });
}

/** Reads pages for one call. It honours robots.txt at every hop and fetches it once for each site. Close it with the call. */
export class PageReader {
  private readonly rules = new Map<string, Promise<SiteRules>>();
  private readonly hosts = new Set<string>();
  private readonly budget = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly signal: AbortSignal;
  private readonly owner: object | string;
  private readonly startedAt = performance.now();
  private asked = 0;

  constructor(private readonly options: PageReaderOptions) {
    this.owner = options.caller ? ownerOf(options.caller) : this;
    this.timer = setTimeout(() => this.budget.abort(new DeadlinePassed(options.budgetMs)), options.budgetMs);
    this.signal = anySignal(options.signal, this.budget.signal);
    // Every fetch listens to the signal. A hundred listeners are no leak.
    setMaxListeners(0, this.signal);
  }

  close(): void {
    clearTimeout(this.timer);
  }

  /** How much of its budget the call has spent so far. */
  spending(): CrawlSpending {
    const { mostPages = Number.MAX_SAFE_INTEGER, budgetMs } = this.options;
    const msSpent = Math.min(budgetMs, Math.round(performance.now() - this.startedAt));
    return { pagesAllowed: mostPages, pagesAsked: this.asked, msAllowed: budgetMs, msSpent };
  }

  /** @returns false when the call has no page left */
  private take(): boolean {
    if (this.asked >= (this.options.mostPages ?? Number.POSITIVE_INFINITY)) return false;
    this.asked++;
    return true;
  }

  /** Never rejects for what the page does; rejects when the call is cancelled. */
  async read(text: string): Promise<PageVisit> {
    if (!this.take()) return missed('unreachable', 'page_budget_spent');
    const visit = await this.visitOrMiss(text);
    if (!wasAsked(visit)) this.asked--;
    return visit;
  }

  private async visitOrMiss(text: string): Promise<PageVisit> {
    try {
      return await this.visit(text);
    } catch (error) {
      this.options.signal.throwIfAborted();
      if (error instanceof FetchRefused) return missed('unreachable', error.reason);
      throw error;
    }
  }

  /** Whether the URL exists, whatever its type; undefined when that cannot be found out. */
  async exists(text: string): Promise<boolean | undefined> {
    try {
      const url = parseUrl(text);
      if (!url || refuseUrl(url)) return undefined;
      if (!this.take()) return undefined;
      if ((await this.verdictOf(url)) !== 'allowed') {
        this.asked--;
        return undefined;
      }
      const { status } = await this.fetch(url, this.options.timeoutMs);
      return status >= 200 && status < 400;
    } catch (error) {
      this.options.signal.throwIfAborted();
      if (error instanceof FetchRefused) return undefined;
      throw error;
    }
  }

  private async visit(text: string): Promise<PageVisit> {
    const { timeoutMs } = this.options;
    let url = parseUrl(text);
    let status: number | null = null;
    let leftMs = timeoutMs;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const refusal = url ? refuseUrl(url) : 'url_invalid';
      if (!url || refusal) return missed('unreachable', refusal ?? 'url_invalid', { status });
      const refused = refuseByRobots(await this.verdictOf(url), status);
      if (refused) return refused;
      const startedAt = performance.now();
      const response = await this.fetch(url, leftMs, ACCEPT);
      leftMs = Math.max(1, leftMs - Math.round(performance.now() - startedAt));
      const { location } = response.headers;
      if (location === undefined || !REDIRECTS.has(response.status)) return this.judge(response);
      status = response.status;
      url = parseUrl(location, url);
    }
    return missed('unreachable', 'too_many_redirects', { status, robotsAllowed: true });
  }

  private async judge(response: GuardedResponse): Promise<PageVisit> {
    const { status, headers, bytes, url } = response;
    const refused = refuseAnswer(response);
    if (refused) return refused;
    const visited = { status, robotsAllowed: true };
    try {
      const packed = { bytes, encoding: headers['content-encoding'], contentType: headers['content-type'] ?? '', url };
      const page = await this.options.parser.parse(packed, this.owner, this.signal);
      return { state: 'read', ...visited, url: new URL(url), headers, page };
    } catch (error) {
      this.options.signal.throwIfAborted();
      if (error instanceof PageUnreadable) return missed('unreachable', error.reason, visited);
      if (this.budget.signal.aborted) return missed('unreachable', 'timeout', visited);
      throw error;
    }
  }

  private async fetch(url: URL, timeoutMs: number, headers = {}): Promise<GuardedResponse> {
    const { limits, port } = this.options;
    const host = hostOf(url);
    if (!this.hosts.has(host) && this.hosts.size >= MAX_HOSTS) throw new FetchRefused('too_many_hosts');
    this.hosts.add(host);
    return limits.run({ owner: this.owner, mode: this.options.caller?.mode, host }, async () => {
      if (this.budget.signal.aborted) throw new FetchRefused('timeout');
      return port.fetch(url.href, { signal: this.signal, timeoutMs, headers });
    });
  }

  /** @throws FetchRefused when the site's rules cannot be read, because then its pages cannot be read either */
  private async verdictOf(url: URL): Promise<RobotsVerdict> {
    const rules = await this.rulesOf(url);
    if (typeof rules === 'string') return rules;
    try {
      const verdict = await this.options.parser.askRobots({ ...rules, url: url.href }, this.owner, this.signal);
      if (verdict === 'encoding_refused') throw new FetchRefused(verdict);
      return verdict;
    } catch (error) {
      if (error instanceof PageUnreadable) return 'too_complex';
      throw this.budget.signal.aborted ? new FetchRefused('timeout', error) : error;
    }
  }

  private rulesOf(url: URL): Promise<SiteRules> {
    const known = this.rules.get(url.origin);
    if (known) return known;
    const asked = this.askRules(url);
    this.rules.set(url.origin, asked);
    // The waiting callers get the failure. There may be none.
    asked.catch(() => undefined);
    return asked;
  }

  /** @throws FetchRefused when the site cannot be reached */
  private async askRules({ origin }: URL): Promise<SiteRules> {
    let url: URL | undefined = new URL('/robots.txt', origin);
    for (let hops = 0; url && !refuseUrl(url) && hops <= MAX_REDIRECTS; hops++) {
      const { status, headers, bytes }: GuardedResponse = await this.fetch(url, this.options.timeoutMs);
      const { location } = headers;
      if (location === undefined || !REDIRECTS.has(status))
        return verdictOfStatus(status) ?? { bytes: keepOfRobots(bytes), encoding: headers['content-encoding'] };
      url = parseUrl(location, url);
    }
    // A robots.txt whose redirects lead nowhere counts as absent (RFC 9309, 2.3.1.2).
    return 'allowed';
  }
}
