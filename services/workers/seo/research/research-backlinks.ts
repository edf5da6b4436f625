import { measured } from '../figure';
import { discoverLinks } from './discover-links';
import { type Research } from './research';
import { type Target, targetText } from './target';
import { type BacklinkRow, verifyBacklink } from './verify-backlink';

export interface BacklinksQuery {
  readonly target: Target;
  readonly limit: number;
  /** Verified first; discovery fills what is left of the limit. */
  readonly candidates: readonly URL[];
}

const STATUSES = ['verified', 'lost', 'blocked', 'unreachable'] as const satisfies readonly BacklinkRow['status'][];

/** Without an engine the candidates alone are verified. */
async function findSources(research: Research, { target, limit, candidates }: BacklinksQuery): Promise<URL[]> {
  const missing = limit - candidates.length;
  const canSkip = candidates.length > 0 && (missing <= 0 || research.sources.engines.length === 0);
  const discovered = canSkip ? [] : await discoverLinks(research, target, limit);
  const all = new Map([...candidates, ...discovered].map((url) => [url.href, url]));
  return [...all.values()].slice(0, limit);
}

/** Pages that should link to the target, each fetched and looked at. */
export async function researchBacklinks(research: Research, query: BacklinksQuery) {
  const sources = await findSources(research, query);
  if (query.candidates.length === 0) research.log.requireProvider();
  const rows = await Promise.all(sources.map((source) => verifyBacklink(research, source, query.target)));
  if (rows.length > 0 && query.candidates.length > 0) research.log.requireSource();
  const count = (status: BacklinkRow['status']) => measured(rows.filter((row) => row.status === status).length, 'pages');
  return {
    target: targetText(query.target),
    totals: Object.fromEntries(STATUSES.map((status) => [status, count(status)])),
    backlinks: rows,
  };
}
