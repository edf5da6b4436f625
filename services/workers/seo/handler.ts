import { setMaxListeners } from 'node:events';
import type { Clock, KeyMode } from '../../../plugins/core/ports';
import { notConfigured } from '../../kit/errors';
import { sourceName } from '../../kit/upstream/source-name';
import type { WorkerCall } from '../../kit/worker/worker-call';
import type { AuthorityRequest__Output } from '../generated/seo/seo/v1/AuthorityRequest';
import type { BacklinksRequest__Output } from '../generated/seo/seo/v1/BacklinksRequest';
import type { KeywordsRequest__Output } from '../generated/seo/seo/v1/KeywordsRequest';
import type { LinkPyramidRequest__Output } from '../generated/seo/seo/v1/LinkPyramidRequest';
import type { Research as ResearchMessage } from '../generated/seo/seo/v1/Research';
import type { SerpRequest__Output } from '../generated/seo/seo/v1/SerpRequest';
import type { SourceList } from '../generated/seo/seo/v1/SourceList';
import type { SpamRequest__Output } from '../generated/seo/seo/v1/SpamRequest';
import type { FetchLimits } from '../../kit/pages/fetch-limits';
import type { PagePort } from '../../kit/pages/page-port';
import { hostOf } from '../../kit/pages/page-url';
import { PageReader, type PageReaderOptions } from '../../kit/pages/page-reader';
import type { Research } from './research/research';
import { researchAuthority } from './research/research-authority';
import { researchBacklinks } from './research/research-backlinks';
import { researchKeywords } from './research/research-keywords';
import { researchLinkPyramid } from './research/research-link-pyramid';
import { researchSerp, type SerpQuery } from './research/research-serp';
import { researchSpam, type SpamSubject } from './research/research-spam';
import { parseDomain, parsePageUrl, parsePageUrls, parseTarget } from './research/target';
import type { Sources } from './sources/create-sources';
import { SourceLog } from './sources/source-log';

export interface SeoHandlerDeps {
  readonly sources: Readonly<Record<KeyMode, Sources>>;
  /** `test` is undefined without a sandbox. */
  readonly ports: Readonly<Record<KeyMode, PagePort | undefined>>;
  readonly parser: PageReaderOptions['parser'];
  readonly limits: FetchLimits;
  readonly clock: Clock;
  /** Milliseconds for one page. */
  readonly pageTimeoutMs: number;
  /** Milliseconds for all pages of a call. */
  readonly pagesBudgetMs: number;
  /** Maximum pages of a call, icons included. */
  readonly pagesPerCall: number;
}

type Caller = Pick<WorkerCall, 'mode' | 'subscriptionId' | 'signal' | 'log'>;
type Handler<Request> = (this: void, request: Request, call: Caller) => Promise<ResearchMessage>;

export interface SeoHandlers {
  readonly Authority: Handler<AuthorityRequest__Output>;
  readonly Backlinks: Handler<BacklinksRequest__Output>;
  readonly Keywords: Handler<KeywordsRequest__Output>;
  readonly LinkPyramid: Handler<LinkPyramidRequest__Output>;
  readonly Serp: Handler<SerpRequest__Output>;
  readonly Spam: Handler<SpamRequest__Output>;
  readonly ListSources: (this: void, request: object, call: Caller) => SourceList;
}

function portFor({ ports }: SeoHandlerDeps, mode: KeyMode): PagePort {
  const port = ports[mode];
  if (port) return port;
  throw notConfigured(['SANDBOX_URL'], mode);
}

/** Runs one piece of research, and returns its result with the state of its sources. */
async function run(deps: SeoHandlerDeps, caller: Caller, work: (research: Research) => Promise<object>): Promise<ResearchMessage> {
  const { mode, signal, log: callLog } = caller;
  const { clock, limits, parser, pageTimeoutMs: timeoutMs, pagesBudgetMs: budgetMs, pagesPerCall: mostPages } = deps;
  // Every query of the call listens to the signal.
  setMaxListeners(0, signal);
  const log = new SourceLog(clock, signal, mode);
  const pages = new PageReader({ port: portFor(deps, mode), parser, limits, timeoutMs, budgetMs, mostPages, signal, caller });
  try {
    const data = await work({ sources: deps.sources[mode], log, pages, signal, clock });
    const sources = log.reports().map(({ error, ...report }) => ({ ...report, error: error ?? '' }));
    return { dataJson: JSON.stringify(labelSources(data, mode)), sources, crawlBudget: pages.spending() };
  } finally {
    const failed = log.reports().filter(({ kind, failed: count }) => kind === 'provider' && count > 0);
    if (failed.length > 0)
      callLog.warn({ failed: failed.map(({ name, failed: count, error = 'some' }) => `${name}: ${error} (${count})`) }, 'sources failed');
    pages.close();
  }
}

function subjectOf({ url, domain }: SpamRequest__Output): SpamSubject {
  return url === '' ? { host: parseDomain('domain', domain) } : { url: parsePageUrl('url', url) };
}

function authorityOf({ url, domain, scope }: AuthorityRequest__Output) {
  const page = url === '' ? new URL(`https://${parseDomain('domain', domain)}/`) : parsePageUrl('url', url);
  return { host: hostOf(page), page: scope === 'page' ? page : undefined };
}

function serpOf({ query, country, language, page, num, location, latitude, longitude, device }: SerpRequest__Output): SerpQuery {
  return {
    query,
    country,
    language,
    page,
    num,
    location: location === '' ? undefined : location,
    coordinates: latitude === undefined || longitude === undefined ? undefined : { latitude, longitude },
    device: device === 'desktop' || device === 'mobile' ? device : undefined,
  };
}

/** Handlers of the worker's methods. Callers' texts are checked here: a URL that must not be fetched is a 422. */
export function createSeoHandlers(deps: SeoHandlerDeps): SeoHandlers {
  return {
    Authority: (request, call) => run(deps, call, (research) => researchAuthority(research, authorityOf(request))),
    Backlinks: ({ target, limit, candidates }, call) =>
      run(deps, call, (research) =>
        researchBacklinks(research, {
          target: parseTarget('target', target),
          limit,
          candidates: parsePageUrls('candidates', candidates),
        }),
      ),
    Keywords: (request, call) => run(deps, call, (research) => researchKeywords(research, request)),
    LinkPyramid: ({ links, target, limit }, call) =>
      run(deps, call, (research) =>
        researchLinkPyramid(research, {
          links: parsePageUrls('links', links),
          target: target === '' ? undefined : parseTarget('target', target),
          limit,
        }),
      ),
    Serp: (request, call) => run(deps, call, (research) => researchSerp(research, serpOf(request))),
    Spam: (request, call) =>
      run(deps, call, (research) =>
        researchSpam(research, subjectOf(request), request.target === '' ? undefined : parseTarget('target', request.target)),
      ),
    ListSources: (_request, { mode }) => ({
      sources: deps.sources[mode].states.map((each) => ({ ...each, name: sourceName(each.name, mode) })),
    }),
  };
}

/** Members of a response whose text names a source. */
const NAMES: ReadonlySet<string> = new Set(['source', 'engine']);
/** Members of a response whose own members are named after sources. */
const BY_NAME: ReadonlySet<string> = new Set(['ranks']);

function labelMember(name: string, value: unknown, mode: KeyMode): unknown {
  if (NAMES.has(name) && typeof value === 'string') return sourceName(value, mode);
  if (!BY_NAME.has(name) || typeof value !== 'object' || value === null) return labelSources(value, mode);
  return Object.fromEntries(Object.entries(value).map(([source, each]) => [sourceName(source, mode), each as unknown]));
}

/** The data of a response, with every source under the name that its caller may see. For a test key that is the sandbox's name. */
function labelSources(data: unknown, mode: KeyMode): unknown {
  if (Array.isArray(data)) return data.map((each) => labelSources(each, mode));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, labelMember(name, value, mode)]));
}
