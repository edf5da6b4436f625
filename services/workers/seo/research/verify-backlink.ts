import { formatInstant } from '../../../kit/timestamp';
import { type PageVisit, type ReadPage } from '../../../kit/pages/page-reader';
import { comparableUrl, parseUrl } from '../../../kit/pages/page-url';
import { type PageLink } from '../../../kit/pages/parse-page';
import { readPage, type Research } from './research';
import { isLinkTo, type Target } from './target';

const FOLLOW_BREAKERS = ['nofollow', 'ugc', 'sponsored'];

function hasDirective(robots: string | null, directive: string): boolean {
  return (
    robots
      ?.toLowerCase()
      .split(/[\s,:]+/)
      .some((each) => each === directive || each === 'none') ?? false
  );
}

/** True when the page, by element or header, forbids following any of its links. */
function isNofollowPage({ page, headers }: ReadPage): boolean {
  return hasDirective(page.metaRobots, 'nofollow') || hasDirective(headers['x-robots-tag'] ?? null, 'nofollow');
}

function isFollow({ rel }: PageLink): boolean {
  return !rel.some((each) => FOLLOW_BREAKERS.includes(each));
}

/** The most valuable link: followed before not followed, in the content before elsewhere, then the first. */
function bestLink(links: readonly PageLink[], target: Target): PageLink | undefined {
  const worth = (link: PageLink): number => (isFollow(link) ? 2 : 0) + (link.inBody ? 1 : 0);
  return links
    .filter(({ url }) => isLinkTo(target, url))
    .reduce<PageLink | undefined>((best, each) => (best && worth(best) >= worth(each) ? best : each), undefined);
}

/** The page's own address, by element or by header. */
function canonicalOf({ page, headers, url }: ReadPage): string | null {
  const inHeader = /<([^>]{1,2048})>\s*;[^,]{0,200}\brel\s*=\s*"?canonical\b/i.exec(headers['link'] ?? '')?.[1];
  return page.canonical ?? (inHeader === undefined ? null : (parseUrl(inHeader, url)?.href ?? null));
}

function mismatches(canonical: string | null, url: URL): boolean {
  const parsed = canonical === null ? undefined : parseUrl(canonical);
  return parsed !== undefined && comparableUrl(parsed) !== comparableUrl(url);
}

const STATUS_OF_MISSED = { blocked: 'blocked', gone: 'lost', unreachable: 'unreachable' } as const;

/** One row of the response: the facts about a page's link to the target. */
interface RowFacts {
  readonly target: Target;
  readonly nowMs: number;
  /** The time at which an earlier call saw the link. */
  readonly seenBeforeMs: number | undefined;
}

/** Facts of a link; empty when there is none. */
function linkFacts(link: PageLink | undefined, visit: PageVisit) {
  if (!link || visit.state !== 'read') return { anchor: null, rel: null, follow: null, ugc: null, sponsored: null, in_body: null };
  return {
    anchor: link.anchor,
    rel: link.rel,
    follow: isFollow(link) && !isNofollowPage(visit),
    ugc: link.rel.includes('ugc'),
    sponsored: link.rel.includes('sponsored'),
    in_body: link.inBody,
  };
}

function backlinkRow(source: string, visit: PageVisit, { target, nowMs, seenBeforeMs }: RowFacts) {
  const verifiedAt = formatInstant(nowMs);
  const common = {
    source_url: source,
    http_status: visit.status,
    robots_txt_allowed: visit.robotsAllowed,
    seen_before: seenBeforeMs === undefined ? null : formatInstant(seenBeforeMs),
  };
  if (visit.state !== 'read') {
    // A page that is gone has no link. On a page that we could not read, the link is unknown.
    const isGone = visit.state === 'gone';
    const unknown = { canonical: null, canonical_mismatch: null, meta_robots: null, x_robots: null };
    return {
      ...common,
      ...linkFacts(undefined, visit),
      ...unknown,
      found: isGone ? false : null,
      verified_at: isGone ? verifiedAt : null,
      status: STATUS_OF_MISSED[visit.state],
      reason: visit.reason,
    };
  }
  const link = bestLink(visit.page.links, target);
  const canonical = canonicalOf(visit);
  return {
    ...common,
    ...linkFacts(link, visit),
    found: link !== undefined,
    verified_at: verifiedAt,
    canonical,
    canonical_mismatch: mismatches(canonical, visit.url),
    meta_robots: visit.page.metaRobots,
    x_robots: visit.headers['x-robots-tag'] ?? null,
    status: link ? ('verified' as const) : ('lost' as const),
    reason: link ? null : 'link_missing',
  };
}

export type BacklinkRow = ReturnType<typeof backlinkRow>;

export interface VerifiedPage {
  readonly row: BacklinkRow;
  /** The target of its link, if the page has one that others may learn: everybody can find the page, and the address has no parameters. */
  readonly publicLink: string | undefined;
}

function publicLinkOf(source: URL, visit: PageVisit, target: Target): string | undefined {
  if (visit.state !== 'read' || source.search !== '' || visit.url.search !== '') return undefined;
  const isHidden = hasDirective(visit.page.metaRobots, 'noindex') || hasDirective(visit.headers['x-robots-tag'] ?? null, 'noindex');
  return isHidden ? undefined : bestLink(visit.page.links, target)?.url.href;
}

/** Fetches a page and looks for its link to the target. */
export async function verifyBacklink(
  research: Research,
  source: URL,
  { target, seenBeforeMs }: Omit<RowFacts, 'nowMs'>,
): Promise<VerifiedPage> {
  const visit = await readPage(research, source.href);
  const row = backlinkRow(source.href, visit, { target, seenBeforeMs, nowMs: research.clock.now() });
  return { row, publicLink: publicLinkOf(source, visit, target) };
}
