import { z } from 'zod';
import { type KeyMode } from '../../../../plugins/core/ports';
import { askJson, type JsonClient } from './ask-json';
import { type Pacer } from './pacer';
import { failedStatus, SourceFailed } from './source-failed';
import { type Answer } from './source-log';

export const COMMON_CRAWL = 'common_crawl';
/** Captures looked at; more would take the index minutes. */
const SAMPLE = 1_000;

const crawls = z.array(z.object({ id: z.string().regex(/^[\w-]+$/) })).min(1);
const capture = z.object({ url: z.string() });

/** Pages of a domain that the latest crawl captured: what is on the site, not who links to it. */
export interface CrawlIndex {
  /** Distinct pages among the first thousand captures. */
  countPages(domain: string, signal: AbortSignal): Promise<Answer<number>>;
}

export interface CrawlIndexOptions {
  readonly client: JsonClient;
  readonly mode: KeyMode;
  /** The index asks for a second between requests. */
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

/** `collinfo.json`, then the CDX server of the latest crawl, which answers a JSON object a line, or 404 when it has no capture. */
export function createCrawlIndex({ client, mode, pace }: CrawlIndexOptions): CrawlIndex {
  return {
    countPages: async (domain, signal) => {
      await pace(signal);
      const [latest] = await askJson(client, { mode, path: '/collinfo.json', signal, idempotent: false }, crawls);
      if (!latest) throw new SourceFailed('bad_response');
      await pace(signal);
      const query = { url: `*.${domain}`, output: 'json', fl: 'url', limit: SAMPLE };
      const { status, bytes } = await client.request({ mode, path: `/${latest.id}-index`, query, signal, idempotent: false });
      if (status === 404) return { value: 0, asOf: latest.id };
      if (status !== 200) throw failedStatus(status);
      return { value: new Set(readCaptures(bytes.toString('utf8'))).size, asOf: latest.id };
    },
  };
}
