import { measured } from '../figure';
import { discoverLinks } from './search';
import type { Research } from './research';
import { LINK_INDEX, type SeenLink } from '../sources/link-index';
import { type Target, targetText, isLinkTo } from './target';
import { type BacklinkRow, verifyBacklink, type VerifiedPage } from './verify-backlink';
import { formatInstant } from '../../../kit/timestamp';
import { parseUrl } from '../../../kit/pages/page-url';

export interface BacklinksQuery {
  readonly target: Target;
  readonly limit: number;
  /** These are verified first. Discovery fills the rest of the limit. */
  readonly candidates: readonly URL[];
}

const STATUSES = ['verified', 'lost', 'blocked', 'unreachable'] as const satisfies readonly BacklinkRow['status'][];

/** Pages to examine: the caller's, pages seen before, and pages that engines find. Without an engine, only the first two are verified. */
async function findSources(research: Research, { target, limit, candidates }: BacklinksQuery, seen: SeenPages): Promise<URL[]> {
  const known = new Map([...candidates, ...[...seen.keys()].map((source) => new URL(source))].map((url) => [url.href, url]));
  const canSkip = known.size > 0 && (known.size >= limit || research.sources.engines.length === 0);
  const discovered = canSkip ? [] : await discoverLinks(research, target, limit);
  const all = new Map([...known.values(), ...discovered].map((url) => [url.href, url]));
  return [...all.values()].slice(0, limit);
}

/** Fetches and examines each page that should link to the target. */
export async function researchBacklinks(research: Research, query: BacklinksQuery) {
  const { target, candidates } = query;
  const seen = await findSeenPages(research, target);
  const sources = await findSources(research, query, seen);
  if (candidates.length === 0 && seen.size === 0) research.log.requireProvider();
  const pages = await Promise.all(
    sources.map((source) => verifyBacklink(research, source, { target, seenBeforeMs: seen.get(source.href)?.seenAtMs })),
  );
  const rows = pages.map(({ row }) => row);
  // Links seen before are not a result of today's research.
  if (rows.length > 0 && candidates.length + seen.size > 0) research.log.requireSource([LINK_INDEX]);
  await rememberPages(research, target, { seen, pages });
  const count = (status: BacklinkRow['status']) => measured(rows.filter((row) => row.status === status).length, 'pages');
  return {
    target: targetText(target),
    totals: Object.fromEntries(STATUSES.map((status) => [status, count(status)])),
    backlinks: rows,
  };
}

/** Links that earlier calls saw, by page; empty when the index is off or cannot be used. */
type SeenPages = ReadonlyMap<string, SeenLink>;

/** Pages that were seen to link to the target, the most recent first. */
async function findSeenPages({ sources, log }: Research, target: Target): Promise<SeenPages> {
  const { linkIndex } = sources;
  if (!linkIndex) return new Map();
  try {
    const links = await linkIndex.find(target.domain);
    const newest = links[0]?.seenAtMs;
    log.note(LINK_INDEX, 'measured', { asOf: newest === undefined ? undefined : formatInstant(newest) });
    const fitting = links.filter((link) => {
      const url = parseUrl(link.target);
      return url !== undefined && isLinkTo(target, url);
    });
    return new Map(fitting.map((link) => [link.source, link]));
  } catch {
    log.note(LINK_INDEX, 'measured', { failure: 'unreachable' });
    return new Map();
  }
}

/** Stores verified links and removes those that are gone. A store that cannot be used does not prevent a response. */
async function rememberPages(
  { sources, log, clock }: Research,
  { domain }: Target,
  { seen, pages }: { seen: SeenPages; pages: readonly VerifiedPage[] },
): Promise<void> {
  const { linkIndex } = sources;
  if (!linkIndex) return;
  const seenAtMs = clock.now();
  const found = pages.flatMap(({ row, publicLink }) =>
    publicLink === undefined ? [] : [{ source: row.source_url, target: publicLink, seenAtMs }],
  );
  const still = new Set(found.map(({ source, target }) => `${source} ${target}`));
  const gone = pages.flatMap(({ row }) => {
    const before = seen.get(row.source_url);
    const isRead = row.status === 'verified' || row.status === 'lost';
    return before && isRead && !still.has(`${before.source} ${before.target}`) ? [before] : [];
  });
  try {
    if (found.length > 0) await linkIndex.add(domain, found);
    if (gone.length > 0) await linkIndex.remove(domain, gone);
  } catch {
    log.note(LINK_INDEX, 'measured', { failure: 'unreachable' });
  }
}
