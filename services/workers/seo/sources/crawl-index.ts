import { z } from 'zod';
import { type KeyMode } from '../../../../plugins/core/ports';
import { askJson, type JsonClient } from './ask-json';
import { type Pacer } from './pacer';
import { failedStatus, SourceFailed } from './source-failed';
import { type SourceResult } from './source-log';

export const COMMON_CRAWL = 'common_crawl';
/** Maximum captures examined. More would take the index minutes. */
const SAMPLE = 1_000;

const crawls = z.array(z.object({ id: z.string().regex(/^[\w-]+$/), to: z.string().nullish() })).min(1);
type Crawl = z.output<typeof crawls>[number];
const capture = z.object({ url: z.string() });

/** Pages of a domain that the latest crawl captured. They show what is on the site, not who links to it. */
export interface CrawlIndex {
  /** Number of distinct pages among the first thousand captures. */
  countPages(domain: string, signal: AbortSignal): Promise<SourceResult<number>>;
  /** Number of captures of one page, up to a thousand. */
  countCaptures(page: URL, signal: AbortSignal): Promise<SourceResult<number>>;
}

export interface CrawlIndexOptions {
  readonly client: JsonClient;
  readonly mode: KeyMode;
  /** The index requires a second between requests. */
  readonly pace: Pacer;
}

function readCaptures(text: string): string[] {
  try {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => capture.parse(JSON.parse(line)).url);
  } catch (error) {
    throw new SourceFailed('bad_response', error);
  }
}

const DAY_MS = 86_400_000;

/** The end of the crawl according to the index (UTC, without a zone); otherwise the Monday of the week in its name (ISO 8601). */
function endOf({ id, to }: Crawl): string | undefined {
  if (to) return `${to}Z`;
  const [, year, week] = /-(\d{4})-(\d{2})$/.exec(id) ?? [];
  if (year === undefined || week === undefined) return undefined;
  // January 4 is always in the first week.
  const fourth = Date.UTC(Number(year), 0, 4);
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MS;
  return new Date(monday + (Number(week) - 1) * 7 * DAY_MS).toISOString();
}

/**
 * Reads `collinfo.json`, then the CDX server of the latest crawl. The server sends a JSON object per line, or 404 when it has no capture.
 */
export function createCrawlIndex({ client, mode, pace }: CrawlIndexOptions): CrawlIndex {
  const findCaptures = async (url: string, signal: AbortSignal): Promise<SourceResult<string[]>> => {
    await pace(signal);
    const [latest] = await askJson(client, { mode, path: '/collinfo.json', signal, idempotent: false }, crawls);
    if (!latest) throw new SourceFailed('bad_response');
    await pace(signal);
    const query = { url, output: 'json', fl: 'url', limit: SAMPLE };
    const { status, bytes } = await client.request({ mode, path: `/${latest.id}-index`, query, signal, idempotent: false });
    if (status === 404) return { value: [], asOf: endOf(latest) };
    if (status !== 200) throw failedStatus(status);
    return { value: readCaptures(bytes.toString('utf8')), asOf: endOf(latest) };
  };
  return {
    countPages: async (domain, signal) => {
      const { value, asOf } = await findCaptures(`*.${domain}`, signal);
      return { value: new Set(value).size, asOf };
    },
    countCaptures: async (page, signal) => {
      const { value, asOf } = await findCaptures(page.href, signal);
      return { value: value.length, asOf };
    },
  };
}
