import { type SandboxExample } from '../../../services/sandbox/sandbox-upstream';
import { type SeoStage, startSeoStage } from './seo-stage';

let stage: SeoStage;
/** Does not wait for sources and pages that are silent. */
let hasty: SeoStage;
beforeAll(async () => {
  stage = await startSeoStage({ env: { SEO_SOURCE_TIMEOUT_MS: '20000' } });
  hasty = await startSeoStage({ env: { SEO_SOURCE_TIMEOUT_MS: '4000', SEO_PAGE_TIMEOUT_MS: '4000' } });
});
afterAll(() => Promise.all([stage?.close(), hasty?.close()]));

async function examples(): Promise<SandboxExample[]> {
  const all = (await (await fetch(stage.sandbox.url)).json()) as SandboxExample[];
  return all.filter(({ product }) => product === 'api-seo');
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
/** Of an answer to a test key, like {@link source}. */
const figure = (value: unknown, unit: string, source: string, kind: string) => ({ value, unit, source: `sandbox_${source}`, kind });
const source = (name: string, kind = 'provider', ok = true) => expect.objectContaining({ name: `sandbox_${name}`, kind, ok });

async function answer(route: string, body: unknown): Promise<any> {
  const reply = await stage.post(route, body);
  expect([reply.statusCode, reply.body.slice(0, 400)]).toEqual([200, expect.any(String)]);
  expect(reply.headers['x-tollgate-mode']).toBe('test');
  const json = reply.json();
  expect(json).toMatchObject({ status: 'success', timestamp: expect.stringMatching(TIMESTAMP) });
  return json;
}

/** Every object in an answer that looks like a figure. */
function figuresIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [...('unit' in value ? [value] : []), ...Object.values(value).flatMap(figuresIn)];
}

it('a failure of every source is 502, a time-out of every source 504, both naming the sources', async () => {
  const failed = await stage.post('/seo/serp', { query: 'upstream-error.example' });
  expect([failed.statusCode, failed.json()]).toMatchObject([502, { code: 'upstream_failed', sources: [{ name: 'sandbox_searxng', ok: false, error: 'upstream_error' }, { name: 'sandbox_brave' }] }]); // prettier-ignore
  const late = await hasty.post('/seo/serp', { query: 'timeout.example' });
  expect([late.statusCode, late.json()]).toMatchObject([504, { code: 'upstream_timeout', sources: [{ name: 'sandbox_searxng', ok: false, error: 'timeout' }, { name: 'sandbox_brave' }] }]); // prettier-ignore
});

it('a failure of some sources is 200 with the others’ data', async () => {
  const { data, sources } = await answer('/seo/serp', { query: 'partial.example' });
  expect(data.results).toHaveLength(10);
  expect(sources).toEqual([source('searxng'), expect.objectContaining({ name: 'sandbox_brave', ok: false, error: 'upstream_error' })]);
});

it('every number with a unit names its source and kind, and the source is in the list', async () => {
  for (const { method, route, input, yields } of await examples()) {
    if (method === 'GET' || !yields.startsWith('200') || yields.includes('never answers')) continue;
    const json = await answer(route, input);
    const names = json.sources.map(({ name }: { name: string }) => name);
    for (const each of figuresIn(json.data) as { value: number | null; source: string; kind: string | null }[]) {
      const own = Object.keys(each).filter((name) => name !== 'method' && name !== 'inputs');
      expect(own).toEqual(['value', 'unit', 'source', 'kind', ...(each.value === null ? ['reason'] : [])]);
      // What was never asked has no kind, and no entry among the sources for that figure's sake.
      if (each.kind === null) expect(each.value).toBeNull();
      else expect(names).toContain(each.source);
    }
    for (const each of json.sources) {
      expect(each).toEqual({ name: expect.any(String), kind: expect.stringMatching(/^(measured|provider|service_estimate)$/), as_of: expect.stringMatching(INSTANT), ok: each.failed < each.asked, asked: expect.any(Number), failed: expect.any(Number), ...(each.failed === each.asked && { error: expect.any(String) }) }); // prettier-ignore
    }
  }
});

describe('authority', () => {
  it('shows what each source says, and the service’s estimate as such', async () => {
    const { data, sources } = await answer('/seo/authority', { url: 'https://www.blog.example/post', scope: 'domain' });
    expect(data).toMatchObject({ domain: 'blog.example', scope: 'domain' });
    expect(data.authority).toMatchObject({
      open_page_rank: figure(6.1, 'score_0_10', 'open_page_rank', 'provider'),
      cc_harmonic_rank: figure(2, 'rank', 'common_crawl_web_graph', 'provider'),
      referring_domains: figure(1122, 'domains', 'open_page_rank', 'provider'),
    });
    expect(data.authority.service_authority).toMatchObject({ kind: 'service_estimate', inputs: [{ value: 6.1 }, { name: 'tranco_rank' }] });
    expect(sources.find(({ name }: { name: string }) => name === 'sandbox_open_page_rank').as_of).toBe('2026-03-01T00:00:00Z');
    expect(data).not.toHaveProperty('page');
  });

  it('says of each null whether the source was asked, failed, or knows nothing', async () => {
    const { data, sources } = await answer('/seo/authority', { domain: 'partial.example' });
    expect(data.authority.open_page_rank).toMatchObject({ value: null, kind: 'provider', reason: 'upstream_error' });
    // The rank alone would be another measure under the same name.
    expect(data.authority.service_authority).toMatchObject({ value: null, reason: 'upstream_error' });
    expect(sources).toContainEqual(
      expect.objectContaining({ name: 'sandbox_open_page_rank', ok: false, error: 'upstream_error', asked: 1, failed: 1 }),
    );
    const live = await startSeoStage({ liveOpenPageRank: true, env: { SEO_TRANCO: 'false' } });
    try {
      const { authority } = (await live.post('/seo/authority', { domain: 'shop.example' }, 'live')).json().data;
      expect(authority.open_page_rank).toMatchObject({ value: 4.2, kind: 'provider' });
      expect(authority.service_authority).toMatchObject({ value: 42, method: '10 * open_page_rank' });
      expect(authority.tranco_rank).toEqual({ value: null, unit: 'rank', source: 'tranco', kind: null, reason: 'not_configured' });
    } finally {
      await live.close();
    }
  });

  it('in page scope is about the page; the domain’s figures stand apart', async () => {
    const ofDomain = (await answer('/seo/authority', { domain: 'shop.example' })).data.authority;
    const { authority, domain_authority } = (await answer('/seo/authority', { url: 'https://shop.example/', scope: 'page' })).data;
    for (const name of Object.keys(ofDomain)) expect(authority[name]).toMatchObject({ value: null, kind: null, reason: 'domain_only' });
    expect(domain_authority).toEqual(ofDomain);
    expect(authority.captures).toEqual(figure(1, 'captures_in_latest_crawl', 'common_crawl', 'provider'));
    expect(authority.links_found).toEqual(figure(5, 'links_on_pages_read', 'page_fetch', 'measured'));
    expect(authority.link_pages_found).toEqual(figure(10, 'pages', 'page_fetch', 'measured'));
    // One page is forbidden, one refuses and one is down.
    expect(authority.link_pages_read).toEqual(figure(7, 'pages', 'page_fetch', 'measured'));
    const deep = (await answer('/seo/authority', { url: 'https://shop.example/deep', scope: 'page' })).data.authority;
    expect([deep.captures.value, deep.links_found.value]).toEqual([0, 0]);
  });
});

describe('backlinks', () => {
  it('are found, fetched, and reported as what they are', async () => {
    const { data, sources, crawl_budget } = await answer('/seo/backlinks', { target: 'shop.example', limit: 10 });
    const row = (host: string) => data.backlinks.find(({ source_url }: { source_url: string }) => new URL(source_url).hostname === host);
    expect(row('blog.example')).toEqual({
      source_url: 'https://blog.example/links-to/shop.example', http_status: 200, found: true, anchor: 'what shop.example does', rel: [],
      follow: true, ugc: false, sponsored: false, canonical: 'https://blog.example/links-to/shop.example', canonical_mismatch: false,
      meta_robots: null, x_robots: null, robots_txt_allowed: true, in_body: true, verified_at: '2026-03-14T09:26:53Z', seen_before: null, status: 'verified', reason: null,
    }); // prettier-ignore
    expect(row('forum.example')).toMatchObject({ follow: false, ugc: true, rel: ['ugc', 'nofollow'], meta_robots: 'index' });
    expect(row('ads.example')).toMatchObject({ sponsored: true, follow: false, anchor: 'Our partner', canonical_mismatch: true });
    expect(row('footer.example')).toMatchObject({ status: 'verified', in_body: false, follow: true });
    expect(row('old.example')).toMatchObject({ status: 'lost', found: false, reason: 'link_missing', http_status: 200, anchor: null });
    expect(row('gone.example')).toMatchObject({ status: 'lost', http_status: 404 });
    expect(row('private.example')).toMatchObject({ status: 'blocked', reason: 'robots_txt', robots_txt_allowed: false, http_status: null });
    expect(row('members.example')).toMatchObject({ status: 'blocked', http_status: 403 });
    // A link that is not there is not "nofollow".
    const noLink = { anchor: null, rel: null, follow: null, ugc: null, sponsored: null, in_body: null };
    for (const host of ['old.example', 'gone.example']) {
      expect(row(host)).toMatchObject({ ...noLink, found: false, verified_at: '2026-03-14T09:26:53Z' });
    }
    // What nobody read is not known.
    const unread = { ...noLink, found: null, canonical_mismatch: null, verified_at: null };
    expect(row('private.example')).toMatchObject(unread);
    expect(row('members.example')).toMatchObject(unread);
    expect(row('down.example')).toMatchObject({ ...unread, status: 'unreachable', robots_txt_allowed: null });
    expect(data.totals.verified).toEqual(figure(5, 'pages', 'page_fetch', 'measured'));
    expect(sources).toEqual([source('searxng'), source('brave'), source('page_fetch', 'measured')]);
    // Ten pages; the one that robots.txt forbids was not asked for.
    expect(sources[2]).toMatchObject({ asked: 9, failed: 3 });
    expect(sources[2]).not.toHaveProperty('error');
    expect(crawl_budget.pages_asked).toBe(9);
  });

  it.each([
    [['https://down.example/a', 'https://down.example/b'], 502, 'pages_unreachable'],
    [['https://slow.example/a'], 504, 'pages_timeout'],
  ])('of candidates %j that nobody answers for are %i', async (candidates, status, code) => {
    const reply = await hasty.post('/seo/backlinks', { target: 'shop.example', limit: candidates.length, candidates });
    expect([reply.statusCode, reply.json()]).toMatchObject([status, { code, sources: [{ name: 'sandbox_page_fetch', ok: false }] }]);
    const both = await hasty.post('/seo/backlinks', { target: 'shop.example', limit: 2, candidates: [...candidates.slice(0, 1), 'https://gone.example/'] }); // prettier-ignore
    expect([both.statusCode, both.json().data.totals.lost.value]).toEqual([200, 1]);
  });

  it('given by the caller are verified first and need no search when they fill the limit', async () => {
    const candidates = ['https://old.example/post', 'https://blog.example/links-to/shop.example'];
    const { data, sources } = await answer('/seo/backlinks', { target: 'https://shop.example/', limit: 2, candidates });
    expect(data.backlinks.map(({ source_url, status }: any) => [source_url, status])).toEqual([
      ['https://old.example/post', 'lost'],
      ['https://blog.example/links-to/shop.example', 'verified'],
    ]);
    expect(sources).toEqual([source('page_fetch', 'measured')]);
  });

  it('to one page are not links to another page of its site', async () => {
    const body = { target: 'https://shop.example/other', limit: 1, candidates: ['https://blog.example/links-to/shop.example'] };
    expect((await answer('/seo/backlinks', body)).data.backlinks[0].status).toBe('lost');
  });

  it('survive the failure of every engine when the caller gave some', async () => {
    const body = { target: 'upstream-error.example', limit: 5, candidates: ['https://blog.example/links-to/upstream-error.example'] };
    const { data, sources } = await answer('/seo/backlinks', body);
    expect(data.backlinks).toHaveLength(1);
    expect(sources).toEqual([source('searxng', 'provider', false), source('brave', 'provider', false), source('page_fetch', 'measured')]);
  });
});

describe('keywords', () => {
  it('that both sources suggest come first, with their places and no volumes', async () => {
    const { data } = await answer('/seo/keywords', { keyword: 'Tea', limit: 12, country: 'in' });
    expect(data).toMatchObject({ keyword: 'Tea', country: 'IN', language: 'en' });
    expect(data.suggestions[0]).toEqual({
      keyword: 'tea price',
      places: [figure(1, 'place', 'duckduckgo_suggestions', 'provider'), figure(2, 'place', 'google_suggestions', 'provider')],
    });
    const sizes = data.suggestions.map(({ places }: { places: unknown[] }) => places.length);
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(JSON.stringify(data)).not.toMatch(/volume|cpc|competition/);
  });
});

describe('serp', () => {
  it('gives each engine’s own ranks, and the order made from them', async () => {
    const first = (await answer('/seo/serp', { query: 'tea', num: 10 })).data.results;
    expect(first.map(({ position }: { position: number }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(new Set(first.map(({ url }: { url: string }) => url)).size).toBe(10);
    expect(first[0]).toEqual({
      position: 1, ranks: { sandbox_searxng: 1 }, title: 'tea – result 1', url: 'https://www.result-1.example/tea', domain: 'result-1.example', snippet: 'Page 1 about tea.', engine: 'sandbox_searxng:google',
    }); // prettier-ignore
    expect(first[1]).toMatchObject({ position: 2, ranks: { sandbox_searxng: 4, sandbox_brave: 1 }, engine: 'sandbox_brave' });
    const second = (await answer('/seo/serp', { query: 'tea', num: 10, page: 2 })).data.results;
    expect(second[0]).toMatchObject({ position: 11, ranks: { sandbox_searxng: 11, sandbox_brave: 8 } });
  });

  it('says of town and device what each source was told, and shows what it gives beside the results', async () => {
    const here = { location: 'Bengaluru', latitude: 12.97, longitude: 77.59, device: 'mobile' };
    const { data } = await answer('/seo/serp', { query: 'tea', ...here });
    const coordinates = { latitude: 12.97, longitude: 77.59 };
    expect(data).toMatchObject({ location: 'Bengaluru', coordinates, device: 'mobile' });
    expect(data.targeting).toEqual([
      { source: 'sandbox_searxng', country: 'IN', language: 'en-IN', location: null, coordinates: null, device: null },
      { source: 'sandbox_brave', country: 'IN', language: 'en', location: 'Bengaluru', coordinates, device: 'mobile' },
    ]);
    expect(data.results[1].snippet).toContain('Seen from Bengaluru on a mobile.');
    expect(data.features).toMatchObject({
      answers: [{ source: 'sandbox_searxng:duckduckgo', text: 'About tea' }],
      infoboxes: [{ source: 'sandbox_searxng:wikidata', title: 'tea', facts: [{ label: 'Kind', value: 'Invented' }] }],
      suggestions: [{ source: 'sandbox_searxng', text: 'tea online' }],
      corrections: [],
    });
    const plain = (await answer('/seo/serp', { query: 'tea' })).data;
    expect(plain).toMatchObject({ location: null, coordinates: null, device: null });
    expect(plain.targeting).toContainEqual({ source: 'sandbox_brave', country: 'IN', language: 'en', location: null, coordinates: null, device: null }); // prettier-ignore
  });
});

describe('spam', () => {
  const hits = ({ signals }: any) => signals.filter(({ hit }: any) => hit).map(({ id }: any) => id);

  it('adds up to the score', async () => {
    const { data } = await answer('/seo/spam', { domain: 'casino-bonus-slots-777.top' });
    expect(hits(data)).toEqual([
      'poison_words', 'blocklisted', 'spam_tld', 'long_domain', 'many_hyphens', 'many_digits', 'no_contact', 'no_favicon', 'many_external_links', 'external_link_ratio', 'hidden_links', 'noindex', 'commercial_anchor',
    ]); // prettier-ignore
    expect(data).toMatchObject({ tier: 'spam', score: figure(100, 'score_0_100', 'service', 'service_estimate'), checked: 17 });
  });

  it('of a backlink looks at its anchor and for it elsewhere on the site', async () => {
    const { data } = await answer('/seo/spam', { url: 'http://footer.example/page', target: 'shop.example' });
    expect(hits(data)).toEqual(['no_https', 'no_contact', 'no_favicon', 'commercial_anchor', 'sitewide_link']);
    expect(data).toMatchObject({ links_to_target: true, tier: 'caution', score: { value: 28 }, checked: 18 });
  });

  it.each([
    ['https://private.example/', 'blocked', 'robots_txt'],
    ['https://down.example/', 'unreachable', 'unreachable'],
  ])('of %s is caution: it is %s, %s', async (url, state, reason) => {
    const { data, sources } = await answer('/seo/spam', { url });
    expect(data).toMatchObject({ tier: 'caution', page: { state, reason } });
    expect(data.score).toEqual({ ...figure(null, 'score_0_100', 'service', 'service_estimate'), reason: 'page_not_read' });
    expect(sources).toContainEqual({ name: 'sandbox_page_fetch', kind: 'measured', ok: false, asked: expect.any(Number), failed: expect.any(Number), error: reason, as_of: expect.any(String) }); // prettier-ignore
  });
});

describe('link_pyramid', () => {
  it('sorts given links into tiers, each once', async () => {
    const links = ['https://blog.example/', 'https://down.example/', 'http://casino-bonus-slots-777.top/', 'https://blog.example/'];
    const { data } = await answer('/seo/link_pyramid', { links });
    const urls = (tier: string) => data.tiers[tier].map(({ url }: { url: string }) => url);
    expect([urls('clean'), urls('caution'), urls('spam')]).toEqual([[links[0]], [links[1]], [links[2]]]);
    const one = figure(1, 'links', 'service', 'service_estimate');
    expect(data.totals).toEqual({ clean: one, caution: one, spam: one });
    expect(data.tiers.spam[0]).toMatchObject({ score: { value: 100 }, hits: expect.arrayContaining([{ id: 'blocklisted', weight: 40, evidence: 'on the block list' }]) }); // prettier-ignore
  });

  it('discovers the links of a target', async () => {
    const { data, sources } = await answer('/seo/link_pyramid', { target: 'shop.example' });
    expect(data.target).toBe('shop.example');
    expect(data.tiers.clean.map(({ domain }: { domain: string }) => domain)).toContain('blog.example');
    expect(data.tiers.spam).toMatchObject([{ domain: 'casino-bonus-slots-777.top', links_to_target: true }]);
    expect(sources).toEqual(expect.arrayContaining([source('searxng'), source('brave')]));
  });
});

describe('the crawl budget', () => {
  it('says how many pages a call could fetch, did, and has left', async () => {
    const none = (await answer('/seo/serp', { query: 'tea' })).crawl_budget;
    expect(none).toEqual({ pages_allowed: 300, pages_asked: 0, pages_left: 300, ms_allowed: 30_000, ms_left: expect.any(Number) });
    const two = (await answer('/seo/backlinks', { target: 'shop.example', limit: 2 })).crawl_budget;
    expect(two).toMatchObject({ pages_asked: 2, pages_left: 298 });
    expect(two.ms_left).toBeLessThanOrEqual(30_000);
  });

  it('ends with the pages that the operator allows', async () => {
    const short = await startSeoStage({ env: { SEO_PAGES_PER_CALL: '1' } });
    try {
      const candidates = ['https://blog.example/links-to/shop.example', 'https://forum.example/thread/shop.example'];
      const { data, crawl_budget } = (await short.post('/seo/backlinks', { target: 'shop.example', limit: 2, candidates })).json();
      expect(data.backlinks).toMatchObject([{ status: 'verified' }, { status: 'unreachable', found: null, reason: 'page_budget_spent' }]);
      expect(crawl_budget).toMatchObject({ pages_allowed: 1, pages_asked: 1, pages_left: 0 });
    } finally {
      await short.close();
    }
  });
});

describe('health', () => {
  it('asks the worker and says which sources are on', async () => {
    const test = await stage.call({ method: 'GET', url: '/seo/health', context: { mode: 'test' } });
    expect(test.json()).toMatchObject({ status: 'success', data: { worker: 'serving', workers: 1 } });
    expect(test.json().data.sources.every(({ configured }: { configured: boolean }) => configured)).toBe(true);
    const live = await stage.call({ method: 'GET', url: '/seo/health' });
    const on = live.json().data.sources.filter(({ configured }: { configured: boolean }) => configured);
    expect(on.map(({ name }: { name: string }) => name)).toEqual(['tranco', 'duckduckgo_suggestions', 'google_suggestions']);
  });
});
