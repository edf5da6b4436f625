import { type Clock } from '../../../../plugins/core/ports';
import { createKeptList, type DatedList, openLines, type LineRequest } from './kept-list';
import { SourceFailed } from './source-failed';
import { type SourceResult } from './source-log';

export const WEB_GRAPH = 'common_crawl_web_graph';

/** Harmonic centrality ranks of the Common Crawl web graph. */
export interface WebGraph {
  /** A domain's rank, or null when it is not among the stored ranks. */
  find(domain: string, signal: AbortSignal): Promise<SourceResult<number | null>>;
}

export interface WebGraphOptions {
  readonly file: LineRequest;
  /** Maximum ranks stored. The file is sorted by rank, so nothing after them is read. */
  readonly most: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** `#harmonicc_pos #harmonicc_val #pr_pos #pr_val #host_rev #n_hosts`, separated by tabs, as Common Crawl publishes it. */
async function readRanks(file: LineRequest, most: number): Promise<DatedList<ReadonlyMap<string, number>>> {
  const ranks = new Map<string, number>();
  const { lines, modifiedAt } = await openLines(file);
  for await (const line of lines) {
    if (line.startsWith('#') || line === '') continue;
    const [position = '', , , , reversed = ''] = line.split('\t');
    if (!/^\d+$/.test(position) || reversed === '') throw new SourceFailed('bad_response');
    ranks.set(reversed.split('.').reverse().join('.'), Number(position));
    if (ranks.size >= most) break;
  }
  if (ranks.size === 0) throw new SourceFailed('bad_response');
  return { list: ranks, modifiedAt };
}

export function createWebGraph({ file, most, timeoutMs, clock }: WebGraphOptions): WebGraph {
  const ranks = createKeptList({ read: () => readRanks(file, most), clock, timeoutMs });
  return {
    find: async (domain, signal) => {
      const { list: known, asOf } = await ranks.get(signal);
      return { value: known.get(domain) ?? null, asOf };
    },
  };
}
