/** A search result of the sandbox's search engines. */
export interface SandboxResult {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

/** Pages of the sandbox's web that mention a host, each in its own way; `seo-web` serves them. */
const MENTIONS: readonly (readonly [site: string, title: string])[] = [
  ['https://blog.example/links-to', 'A review'],
  ['https://forum.example/thread', 'A thread'],
  ['https://ads.example/partners', 'Our partners'],
  ['https://old.example/post', 'An old post'],
  ['https://private.example/notes', 'Private notes'],
  ['https://members.example/area', 'Members only'],
  ['https://gone.example/page', 'A page that was'],
  ['https://down.example/page', 'A server that is down'],
  ['http://footer.example/page', 'In the footer'],
  ['http://casino-bonus-slots-777.top/go', 'Casino bonus'],
];

const RESULTS_IN_ALL = 60;

function mentionsOf(host: string): SandboxResult[] {
  return MENTIONS.map(([site, title]) => ({ title: `${title} of ${host}`, url: `${site}/${host}`, text: `Something about ${host}.` }));
}

function slugOf(query: string): string {
  return encodeURIComponent(query.toLowerCase().trim().replace(/\s+/g, '-'));
}

/** All results of a query, best first: mentions for the query of a backlink search, otherwise sixty invented pages. */
export function resultsFor(query: string): SandboxResult[] {
  const host = /^"([^"]+)" -site:/.exec(query)?.[1];
  if (host !== undefined) return mentionsOf(host);
  return Array.from({ length: RESULTS_IN_ALL }, (_, index) => ({
    title: `${query} – result ${index + 1}`,
    url: `https://www.result-${index + 1}.example/${slugOf(query)}`,
    text: `Page ${index + 1} about ${query}.`,
  }));
}
