import { type Clock } from '../../../../plugins/core/ports';
import { createKeptList, type DatedList, openLines, type LineRequest } from './kept-list';
import { type SourceResult } from './source-log';

export const BLOCK_LIST = 'block_list';

/** Domains that a third party lists as spam. */
export interface BlockList {
  /** The hosts that are listed, either themselves or through a parent domain. */
  findListed(hosts: readonly string[], signal: AbortSignal): Promise<SourceResult<ReadonlySet<string>>>;
}

export interface BlockListOptions {
  readonly file: LineRequest;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** One domain a line; hosts files put an address before it. */
function domainOf(line: string): string | undefined {
  const [first = '', second] = (line.split('#', 1)[0] ?? '').trim().toLowerCase().split(/\s+/);
  const domain = second ?? first;
  return domain.includes('.') ? domain.replace(/\.$/, '') : undefined;
}

async function readDomains(file: LineRequest): Promise<DatedList<ReadonlySet<string>>> {
  const domains = new Set<string>();
  const { lines, modifiedAt } = await openLines(file);
  for await (const line of lines) {
    const domain = domainOf(line);
    if (domain !== undefined) domains.add(domain);
  }
  return { list: domains, modifiedAt };
}

function isListed(host: string, domains: ReadonlySet<string>): boolean {
  const labels = host.split('.');
  return labels.some((_, index) => domains.has(labels.slice(index).join('.')));
}

export function createBlockList({ file, timeoutMs, clock }: BlockListOptions): BlockList {
  const list = createKeptList({ read: () => readDomains(file), clock, timeoutMs });
  return {
    findListed: async (hosts, signal) => {
      const { list: domains, asOf } = await list.get(signal);
      return { value: new Set(hosts.filter((host) => isListed(host, domains))), asOf };
    },
  };
}
