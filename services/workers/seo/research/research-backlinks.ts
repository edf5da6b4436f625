import { measured } from '../figure';
import { discoverLinks } from './discover-links';
import { type Research } from './research';
import { LINK_INDEX } from '../sources/link-index';
import { findSeenPages, rememberPages, type SeenPages } from './seen-links';
import { type Target, targetText } from './target';
import { type BacklinkRow, verifyBacklink } from './verify-backlink';

export interface BacklinksQuery {
  readonly target: Target;
  readonly limit: number;
  /** Verified first; discovery fills what is left of the limit. */
  readonly candidates: readonly URL[];
}

const STATUSES = ['verified', 'lost', 'blocked', 'unreachable'] as const satisfies readonly BacklinkRow['status'][];

/** Pages to look at: the caller's, those that were seen before, those that engines find. Without an engine the others alone are verified. */
async function findSources(research: Research, { target, limit, candidates }: BacklinksQuery, seen: SeenPages): Promise<URL[]> {
  const known = new Map([...candidates, ...[...seen.keys()].map((source) => new URL(source))].map((url) => [url.href, url]));
  const canSkip = known.size > 0 && (known.size >= limit || research.sources.engines.length === 0);
  const discovered = canSkip ? [] : await discoverLinks(research, target, limit);
  const all = new Map([...known.values(), ...discovered].map((url) => [url.href, url]));
  return [...all.values()].slice(0, limit);
}

/** Pages that should link to the target, each fetched and looked at. */
export async function researchBacklinks(research: Research, query: BacklinksQuery) {
  const { target, candidates } = query;
  const seen = await findSeenPages(research, target);
  const sources = await findSources(research, query, seen);
  if (candidates.length === 0 && seen.size === 0) research.log.requireProvider();
  const pages = await Promise.all(
    sources.map((source) => verifyBacklink(research, source, { target, seenBeforeMs: seen.get(source.href)?.seenAtMs })),
  );
  const rows = pages.map(({ row }) => row);
  // What was seen before is no answer of today.
  if (rows.length > 0 && candidates.length + seen.size > 0) research.log.requireSource([LINK_INDEX]);
  await rememberPages(research, target, { seen, pages });
  const count = (status: BacklinkRow['status']) => measured(rows.filter((row) => row.status === status).length, 'pages');
  return {
    target: targetText(target),
    totals: Object.fromEntries(STATUSES.map((status) => [status, count(status)])),
    backlinks: rows,
  };
}
