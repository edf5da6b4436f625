import { formatInstant } from '../../../kit/timestamp';
import { parseUrl } from '../../../kit/pages/page-url';
import { LINK_INDEX, type SeenLink } from '../sources/link-index';
import { type Research } from './research';
import { isLinkTo, type Target } from './target';
import { type VerifiedPage } from './verify-backlink';

/** What earlier calls saw, by page; empty where the index is off or cannot be used. */
export type SeenPages = ReadonlyMap<string, SeenLink>;

/** Pages that were seen to link to the target, seen last first. */
export async function findSeenPages({ sources, log }: Research, target: Target): Promise<SeenPages> {
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

/** Remembers the links that were verified and forgets those that are gone; a store that cannot be used costs no answer. */
export async function rememberPages(
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
