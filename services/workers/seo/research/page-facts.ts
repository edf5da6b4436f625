import { measured } from '../figure';
import { type PageVisit } from '../../../kit/pages/page-reader';
import { hostOf, isSameSite } from '../../../kit/pages/page-url';

/** Facts about one page from its contents. Counts are null when it could not be read. */
export function pageFacts(visit: PageVisit) {
  if (visit.state !== 'read') {
    return { state: visit.state, reason: visit.reason, http_status: visit.status, robots_txt_allowed: visit.robotsAllowed };
  }
  const { page, url, headers } = visit;
  const host = hostOf(url);
  const internal = page.links.filter((link) => isSameSite(hostOf(link.url), host)).length;
  return {
    state: visit.state,
    reason: null,
    http_status: visit.status,
    robots_txt_allowed: visit.robotsAllowed,
    url: url.href,
    https: url.protocol === 'https:',
    title: page.title,
    description: page.description,
    canonical: page.canonical,
    meta_robots: page.metaRobots,
    x_robots: headers['x-robots-tag'] ?? null,
    words: measured(page.words, 'words'),
    headings_1: measured(page.headings, 'headings'),
    internal_links: measured(internal, 'links'),
    external_links: measured(page.links.length - internal, 'links'),
  };
}
