import { z } from 'zod';
import { type KeyMode } from '../../../../plugins/core/ports';
import { askJson, type JsonClient } from './ask-json';
import { type SourceResult } from './source-log';

export const OPEN_PAGE_RANK = 'open_page_rank';
/** Maximum domains of one request. */
const MAX_DOMAINS = 100;

const answer = z.object({
  as_of: z.string().nullish(),
  results: z.array(
    z.object({
      domain: z.string(),
      found: z.boolean(),
      open_page_rank: z.number().min(0).max(10).nullish(),
      rank: z.number().nullish(),
      referring_domains: z.number().nullish(),
    }),
  ),
});

/** Open PageRank's figures for a domain; null if it has none. */
export interface PageRank {
  /** 0 to 10. */
  readonly score: number | null;
  readonly referringDomains: number | null;
}

export interface OpenPageRank {
  /** Figures by domain, as given. A domain that is missing is unknown to the provider. At most 100 domains. */
  find(domains: readonly string[], signal: AbortSignal): Promise<SourceResult<ReadonlyMap<string, PageRank>>>;
}

export interface OpenPageRankOptions {
  readonly client: JsonClient;
  readonly mode: KeyMode;
  readonly apiKey: string;
}

export function createOpenPageRank({ client, mode, apiKey }: OpenPageRankOptions): OpenPageRank {
  return {
    find: async (domains, signal) => {
      const json = { domains: domains.slice(0, MAX_DOMAINS) };
      const headers = { Authorization: `Bearer ${apiKey}` };
      const { as_of: asOf, results } = await askJson(
        client,
        { mode, method: 'POST', path: '/v1/domains/bulk', json, headers, signal },
        answer,
      );
      const known = results.filter(({ found }) => found);
      const value = new Map(
        known.map((each) => [
          each.domain.toLowerCase(),
          { score: each.open_page_rank ?? null, referringDomains: each.referring_domains ?? null },
        ]),
      );
      return { value, asOf: asOf ?? undefined };
    },
  };
}
