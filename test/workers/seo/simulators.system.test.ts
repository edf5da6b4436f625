import { gunzipSync } from 'node:zlib';
import { createSandboxUpstreams } from '../../../services/sandbox/sandbox-upstreams';
import { type Sandbox, startSandbox } from '../../../services/sandbox/start-sandbox';

/** The simulators against the wire forms of the product contract, without the adapters. */
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0, upstreams: createSandboxUpstreams() });
});
afterAll(() => sandbox.close());

async function get(path: string, init: RequestInit = {}): Promise<{ status: number; text: string; json: () => any; headers: Headers }> {
  const response = await fetch(sandbox.url + path, { redirect: 'manual', ...init });
  const text = await response.text();
  return { status: response.status, text, json: () => JSON.parse(text), headers: response.headers };
}

test('SearXNG answers JSON only where the format is json', async () => {
  expect((await get('/seo-searxng/search?q=tea')).status).toBe(403);
  const answer = (await get('/seo-searxng/search?q=tea&format=json&pageno=2&language=en')).json();
  expect(Object.keys(answer)).toEqual(expect.arrayContaining(['query', 'results', 'suggestions', 'unresponsive_engines']));
  expect(answer.query).toBe('tea');
  expect(answer.results[0]).toMatchObject({
    url: 'https://www.result-11.example/tea', title: expect.any(String), content: expect.any(String), engine: 'google', engines: ['google', 'bing'], positions: [1, 1], score: 4,
  }); // prettier-ignore
});

test('Brave wants a token and no more than twenty results, and leaves web out when it found nothing', async () => {
  const headers = { 'X-Subscription-Token': 'sandbox' };
  expect((await get('/seo-brave/res/v1/web/search?q=tea')).status).toBe(422);
  expect((await get('/seo-brave/res/v1/web/search?q=tea&count=21', { headers })).status).toBe(422);
  const answer = (await get('/seo-brave/res/v1/web/search?q=tea&count=3&offset=1&country=IN&search_lang=en', { headers })).json();
  expect(answer.web.results).toHaveLength(3);
  expect(answer.web.results[0]).toMatchObject({
    title: expect.any(String),
    url: expect.any(String),
    description: expect.stringContaining('<strong>'),
  });
  expect((await get('/seo-brave/res/v1/web/search?q=unknown.example', { headers })).json()).not.toHaveProperty('web');
});

test('Open PageRank wants a bearer token and at most a hundred domains', async () => {
  const ask = (domains: string[], token = 'Bearer x') =>
    get('/seo-open-page-rank/v1/domains/bulk', { method: 'POST', body: JSON.stringify({ domains }), headers: { 'content-type': 'application/json', authorization: token } }); // prettier-ignore
  expect((await ask(['a.example'], 'x')).status).toBe(401);
  expect((await ask(Array<string>(101).fill('a.example'))).status).toBe(422);
  expect((await ask(['shop.example', 'unknown.example'])).json()).toEqual({
    as_of: '2026-03-01',
    results: [
      { domain: 'shop.example', found: true, open_page_rank: 4.2, rank: expect.any(Number), referring_domains: 126 },
      { domain: 'unknown.example', found: false, open_page_rank: null, rank: null, referring_domains: null },
    ],
  });
});

test('Tranco answers ranks with dates', async () => {
  const { ranks } = (await get('/seo-tranco/api/ranks/domain/shop.example')).json();
  expect(ranks[0]).toEqual({ date: '2026-03-13', rank: expect.any(Number) });
  expect((await get('/seo-tranco/api/ranks/domain/unknown.example')).json()).toEqual({ ranks: [] });
});

test('Common Crawl lists its crawls and answers captures a line', async () => {
  const [{ id }] = (await get('/seo-common-crawl/collinfo.json')).json();
  const captures = (await get(`/seo-common-crawl/${id}-index?url=*.shop.example&output=json`)).text.trim().split('\n');
  expect(captures.length).toBeGreaterThan(1);
  expect(JSON.parse(captures[0] ?? '')).toMatchObject({
    urlkey: 'example,shop)/page-0',
    url: 'https://shop.example/page-0',
    status: '200',
    mime: 'text/html',
  });
  const none = await get(`/seo-common-crawl/${id}-index?url=*.unknown.example&output=json`);
  expect([none.status, none.json()]).toEqual([404, { message: 'No Captures found for: *.unknown.example' }]);
  const packed = Buffer.from(await (await fetch(`${sandbox.url}/seo-common-crawl/domain-ranks.txt.gz`)).arrayBuffer());
  expect(gunzipSync(packed).toString().split('\n')[0]).toBe('#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\t#n_hosts');
});

test('suggestions come as the query and a list', async () => {
  expect((await get('/seo-duckduckgo/ac/?type=list&q=tea')).json()).toEqual(['tea', expect.arrayContaining(['tea price'])]);
  expect((await get('/seo-google-suggest/complete/search?client=firefox&q=tea')).json().slice(0, 2)).toEqual([
    'tea',
    expect.arrayContaining(['tea price']),
  ]);
  expect((await get('/seo-google-suggest/complete/search?q=tea')).status).toBe(400);
});

test('the same question has the same answer', async () => {
  for (const path of [
    '/seo-searxng/search?q=tea&format=json',
    '/seo-tranco/api/ranks/domain/a.example',
    '/seo-web/https/any.example/page',
  ]) {
    expect((await get(path)).text).toBe((await get(path)).text);
  }
});

test('every host has a web page, robots.txt included', async () => {
  expect((await get('/seo-web/https/any.example/links-to/shop.example')).text).toContain('<a href="https://shop.example/">');
  expect((await get('/seo-web/https/private.example/robots.txt')).text).toBe('User-agent: *\nDisallow: /\n');
  expect((await get('/seo-web/https/moved.example/')).headers.get('location')).toBe('https://elsewhere.example/');
  await expect(get('/seo-web/https/down.example/')).rejects.toThrow();
});
