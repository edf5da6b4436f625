import { gzipSync } from 'node:zlib';
import { UpstreamClient } from '../../../services/kit/upstream/upstream-client';
import { createBlockList } from '../../../services/workers/seo/sources/block-list';
import { createBrave } from '../../../services/workers/seo/sources/brave';
import { createCrawlIndex } from '../../../services/workers/seo/sources/crawl-index';
import { createOpenPageRank } from '../../../services/workers/seo/sources/open-page-rank';
import { createPacer } from '../../../services/workers/seo/sources/pacer';
import { createSearxng } from '../../../services/workers/seo/sources/searxng';
import { createDuckDuckGo, createGoogleSuggest } from '../../../services/workers/seo/sources/suggester';
import { createTranco } from '../../../services/workers/seo/sources/tranco';
import { createWebGraph } from '../../../services/workers/seo/sources/web-graph';
import { testClock } from '../../kit/test-clock';
import { type ScriptedAnswer, type ScriptedHttp, startScriptedHttp } from '../identity/support/scripted-http';
import { type Figure } from '../../../services/workers/seo/figure';
import { type AuthorityInput, rankScore, serviceAuthority } from '../../../services/workers/seo/research/service-authority';

/** Wire samples in the forms that the product contract records. */
const SAMPLES = {
  searxng:
    '{"query":"tea","number_of_results":0,"results":[{"url":"https://a.example/","title":"A","content":"about A","engine":"google","engines":["google","bing"],' +
    '"positions":[1,2],"score":3.5},{"url":"https://b.example/","title":"B","content":"","engine":"bing","engines":["bing"],"positions":[2],"score":0.5}],' +
    '"answers":[],"suggestions":["green tea"],"unresponsive_engines":[["qwant","timeout"]]}',
  brave:
    '{"type":"search","web":{"type":"search","results":[{"title":"<strong>Tea</strong> &co","url":"https://a.example/","description":"All about <strong>tea</strong>"}]}}',
  openPageRank:
    '{"as_of":"2026-02-20","results":[{"domain":"a.example","found":true,"open_page_rank":6.42,"rank":1234,"referring_domains":5678},' +
    '{"domain":"b.example","found":false,"open_page_rank":null,"rank":null,"referring_domains":null}]}',
  tranco: '{"ranks":[{"date":"2026-03-12","rank":44},{"date":"2026-03-13","rank":42}]}',
  collinfo:
    '[{"id":"CC-MAIN-2026-08","name":"February 2026 Index","timegate":"https://index.commoncrawl.org/CC-MAIN-2026-08/",' +
    '"cdx-api":"https://index.commoncrawl.org/CC-MAIN-2026-08-index"},{"id":"CC-MAIN-2026-04","name":"January 2026 Index"}]',
  cdx: '{"url": "https://a.example/"}\n{"url": "https://a.example/x"}\n{"url": "https://a.example/"}\n',
  suggestions: '["tea",["tea set","tea time"]]',
  googleSuggestions: '["tea",["tea set","tea time"],[],{"google:suggestsubtypes":[[512],[512]]}]',
};

type Answers = Readonly<Record<string, ScriptedAnswer>>;

let upstream: ScriptedHttp;
let answers: Answers = {};
/** Of an upstream that answers by path. @param base path of the client's base URL */
function clientFor(given: Answers, base = ''): UpstreamClient {
  answers = given;
  upstream.seen.length = 0;
  return new UpstreamClient({ name: 'recorded', target: { liveUrl: upstream.url + base, liveSetting: 'X', sandboxUrl: undefined } });
}
const pathOf = (url: string | undefined) => new URL(url ?? '', 'http://recorded');
const signal = new AbortController().signal;
const noPause = () => Promise.resolve();
const query = { query: 'tea', country: 'IN', language: 'en' };
/** The parameters of a request that was seen. */
const parametersOf = (index = 0) => Object.fromEntries(pathOf(upstream.seen[index]?.url).searchParams);
const failure = (reason: string) => expect.objectContaining({ name: 'SourceFailed', reason });

beforeAll(async () => {
  upstream = await startScriptedHttp(({ url }) => answers[pathOf(url).pathname] ?? { status: 599 });
});
afterAll(() => upstream?.close());

describe('SearXNG', () => {
  const ask = (answer: ScriptedAnswer) => createSearxng(clientFor({ '/search': answer }), 'live').searchPage(query, 2, signal);

  it('is asked for JSON, a page and a language', async () => {
    const { results } = await ask({ body: SAMPLES.searxng });
    expect(results).toEqual([
      { title: 'A', url: 'https://a.example/', snippet: 'about A', engine: 'searxng:google' },
      { title: 'B', url: 'https://b.example/', snippet: '', engine: 'searxng:bing' },
    ]);
    expect(parametersOf()).toEqual({
      q: 'tea',
      format: 'json',
      pageno: '2',
      language: 'en-IN',
    });
  });

  it('tells its features as they are, those of older instances too, and none costs the results', async () => {
    const [wiki, origin] = [
      { title: 'Wiki', url: 'https://wiki.example/' },
      { label: 'Origin', value: 'China' },
    ];
    const features = {
      answers: ['42', { answer: 'forty-two', url: 'https://a.example/', engine: 'duckduckgo' }, { answer: 7 }],
      infoboxes: [
        {
          infobox: 'Tea',
          content: 'A drink.',
          img_src: 'javascript:alert(1)',
          engine: 'wikidata',
          urls: [wiki, { title: 'No link', url: 'data:text/html,x' }],
          attributes: [origin, { label: 'Picture', image: { src: 'x' } }],
        },
        'nonsense',
      ],
      suggestions: ['green tea', ''],
      corrections: 'nonsense',
    };
    const page = await ask({ body: JSON.stringify({ ...JSON.parse(SAMPLES.searxng), ...features }) });
    expect(page.results).toHaveLength(2);
    expect(page.features).toEqual({
      answers: [
        { source: 'searxng', text: '42', url: null },
        { source: 'searxng:duckduckgo', text: 'forty-two', url: 'https://a.example/' },
      ],
      infoboxes: [{ source: 'searxng:wikidata', title: 'Tea', text: 'A drink.', image_url: null, links: [wiki], facts: [origin] }],
      suggestions: [{ source: 'searxng', text: 'green tea' }],
      corrections: [],
    });
  });
});

describe('Brave', () => {
  const braveThat = (answer: ScriptedAnswer) =>
    createBrave({ client: clientFor({ '/res/v1/web/search': answer }), mode: 'live', token: 'secret' });
  const ask = (answer: ScriptedAnswer) => braveThat(answer).searchPage(query, 2, signal);

  it('gets its token in a header, counts pages from 0, and its marks are removed', async () => {
    expect(await ask({ body: SAMPLES.brave })).toEqual({
      results: [{ title: 'Tea &co', url: 'https://a.example/', snippet: 'All about tea', engine: 'brave' }],
    });
    expect(upstream.seen[0]?.headers['x-subscription-token']).toBe('secret');
    expect(parametersOf()).toEqual({
      q: 'tea',
      count: '20',
      offset: '1',
      country: 'IN',
      search_lang: 'en',
    });
  });

  it('is told where the searcher is and with what, as far as headers can hold it', async () => {
    // Without the member web it found nothing.
    const brave = braveThat({ body: '{"type":"search"}' });
    const here = { coordinates: { latitude: 48.14, longitude: 11.58 }, device: 'mobile' as const };
    expect(await brave.searchPage({ ...query, ...here, location: 'München' }, 1, signal)).toEqual({ results: [] });
    await brave.searchPage({ ...query, location: 'मुंबई' }, 1, signal);
    const sent = ['x-loc-city', 'x-loc-lat', 'x-loc-long', 'x-loc-country'].map((name) => upstream.seen[0]?.headers[name]);
    expect(sent).toEqual(['Munchen', '48.14', '11.58', 'IN']);
    expect(upstream.seen[0]?.headers['user-agent']).toMatch(/Android.*Mobile/);
    expect(upstream.seen[1]?.headers).not.toHaveProperty('x-loc-city');
    expect(brave.targetingOf({ ...query, ...here, location: 'मुंबई' })).toEqual({ country: 'IN', language: 'en', location: null, ...here });
  });

  it('is asked once, since every request is paid for', async () => {
    await expect(ask({ status: 503, body: '' })).rejects.toEqual(failure('upstream_error'));
    expect(upstream.seen).toHaveLength(1);
  });
});

describe('Open PageRank', () => {
  const ask = (answer: ScriptedAnswer) => {
    const client = clientFor({ '/v1/domains/bulk': answer });
    return createOpenPageRank({ client, mode: 'live', apiKey: 'secret' }).find(['a.example', 'b.example'], signal);
  };

  it('gets all domains in one request; what it does not know is missing', async () => {
    const { value, asOf } = await ask({ body: SAMPLES.openPageRank });
    expect([...value]).toEqual([['a.example', { score: 6.42, referringDomains: 5678 }]]);
    expect(asOf).toBe('2026-02-20');
    const [seen] = upstream.seen;
    expect([seen?.method, seen?.headers.authorization, seen?.text]).toEqual([
      'POST',
      'Bearer secret',
      '{"domains":["a.example","b.example"]}',
    ]);
  });

  it.each([
    [401, '{}', 'key_refused'],
    [429, '{}', 'over_quota'],
    [200, '{"results":[{"domain":"a.example","found":true,"open_page_rank":11}]}', 'bad_response'],
  ])('status %i with %s is %s', async (status, body, reason) => {
    await expect(ask({ status, body })).rejects.toEqual(failure(reason));
  });
});

it.each([
  [SAMPLES.tranco, { value: 42, asOf: '2026-03-13' }],
  ['{"ranks":[]}', { value: null }],
])('of %s Tranco knows the latest rank with its date: %j', async (body, known) => {
  const client = clientFor({ '/api/ranks/domain/a.example': { body } });
  expect(await createTranco({ client, mode: 'live', pace: noPause }).find('a.example', signal)).toMatchObject(known);
});

describe('the Common Crawl index', () => {
  const indexThat = (cdx: ScriptedAnswer, { crawls = SAMPLES.collinfo, pace = noPause } = {}) => {
    const client = clientFor({
      '/collinfo.json': { body: crawls },
      '/CC-MAIN-2026-08-index': { headers: { 'content-type': 'text/x-ndjson' }, ...cdx },
    });
    return createCrawlIndex({ client, mode: 'live', pace });
  };

  it('counts each page of the latest crawl once, and waits for its turn before each request', async () => {
    const turns: number[] = [];
    const pace = async () => void turns.push(upstream.seen.length);
    const counted = await indexThat({ body: SAMPLES.cdx }, { pace }).countPages('a.example', signal);
    expect(counted).toEqual({ value: 2, asOf: '2026-02-16T00:00:00.000Z' });
    expect(parametersOf(1)).toEqual({ url: '*.a.example', output: 'json', fl: 'url', limit: '1000' });
    expect(turns).toEqual([0, 1]);
  });

  it('counts the captures of one page, and takes the date of the crawl from the index when it says', async () => {
    const crawls = '[{"id":"CC-MAIN-2026-08","from":"2026-02-14T01:02:03","to":"2026-02-26T10:58:02"}]';
    const index = indexThat({ body: SAMPLES.cdx }, { crawls });
    expect(await index.countCaptures(new URL('https://a.example/x?y'), signal)).toEqual({ value: 3, asOf: '2026-02-26T10:58:02Z' });
    expect(parametersOf(1)['url']).toBe('https://a.example/x?y');
  });

  it('takes 404 for no capture, and a broken line for a failure', async () => {
    const none = { status: 404, body: '{"message": "No Captures found for: *.a.example"}' };
    expect(await indexThat(none).countPages('a.example', signal)).toMatchObject({ value: 0 });
    const broken = indexThat({ body: '{"url": "https://a.example/"}\n{"url": ' });
    await expect(broken.countPages('a.example', signal)).rejects.toEqual(failure('bad_response'));
  });
});

it('turns are a second apart, in the order of asking', async () => {
  const waits: number[] = [];
  let now = 0;
  const pace = createPacer(1_000, { now: () => 0, monotonic: () => now }, (ms) => {
    waits.push(ms);
    return Promise.resolve();
  });
  await Promise.all([pace(signal), pace(signal), pace(signal)]);
  now = 2_500;
  await pace(signal);
  now = 9_000;
  await pace(signal);
  expect(waits).toEqual([1_000, 2_000, 500]);
});

describe('the web graph', () => {
  const RANKS =
    '#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\t#n_hosts\n1\t3.1E7\t2\t0.01\torg.wikipedia\t9\n2\t3E7\t1\t0.02\tuk.co.bbc\t4\n3\t1\t3\t0.1\texample.c\t1\n';
  const graph = (client: UpstreamClient, most: number, packed: boolean) =>
    createWebGraph({ file: { client, mode: 'live', packed }, most, timeoutMs: 5_000, clock: testClock });

  it.each([
    [false, RANKS],
    [true, gzipSync(RANKS)],
  ])('is read (packed: %s) as it is published, and no further than wanted', async (packed, body) => {
    const known = graph(clientFor({ '/ranks': { headers: { 'content-type': 'binary/octet-stream' }, body } }, '/ranks'), 2, packed);
    expect((await known.find('bbc.co.uk', signal)).value).toBe(2);
    expect((await known.find('wikipedia.org', signal)).value).toBe(1);
    expect((await known.find('c.example', signal)).value).toBeNull();
    expect(upstream.seen).toHaveLength(1);
  });

  it.each([
    ['no table', { body: 'not a table' }, 'bad_response'],
    ['torn off', { body: gzipSync(Buffer.from(RANKS.repeat(100))).subarray(0, 40) }, 'bad_response'],
    ['an error', { status: 500, body: '' }, 'upstream_error'],
  ])('that is %s is a failure', async (what, answer, reason) => {
    const client = clientFor({ '/ranks': answer }, '/ranks');
    await expect(graph(client, 1_000, what === 'torn off').find('a.example', signal)).rejects.toEqual(failure(reason));
  });
});

it('the block list takes plain and hosts files, and a listed domain counts for hosts below it', async () => {
  const body = '# comment\r\nspam.example\n0.0.0.0 bad.example # why\n\n127.0.0.1 localhost\n';
  const client = clientFor({ '/list': { headers: { 'content-type': 'text/plain' }, body } }, '/list');
  const list = createBlockList({ file: { client, mode: 'live', packed: false }, timeoutMs: 5_000, clock: testClock });
  const { value, asOf } = await list.findListed(['spam.example', 'www.bad.example', 'notspam.example', 'example'], signal);
  expect([...value]).toEqual(['spam.example', 'www.bad.example']);
  // Without a date of its own it is as old as our copy.
  expect(asOf).toBe('2026-03-14T09:26:53Z');
});

describe('suggestions', () => {
  const asked = { keyword: 'tea', country: 'IN', language: 'en' };

  it('of DuckDuckGo', async () => {
    const suggester = createDuckDuckGo(clientFor({ '/ac/': { body: SAMPLES.suggestions } }), 'live');
    expect(await suggester.suggest(asked, signal)).toEqual(['tea set', 'tea time']);
    expect(parametersOf()).toEqual({ type: 'list', q: 'tea', kl: 'in-en' });
  });

  it('of Google, whose answer has further members', async () => {
    const answer = { headers: { 'content-type': 'text/javascript' }, body: SAMPLES.googleSuggestions };
    const suggester = createGoogleSuggest(clientFor({ '/complete/search': answer }), 'live');
    expect(await suggester.suggest(asked, signal)).toEqual(['tea set', 'tea time']);
    expect(parametersOf()).toMatchObject({ client: 'firefox', q: 'tea', hl: 'en', gl: 'in' });
  });

  it.each(['{}', 'window.x()'])('in another form are refused: %s', async (body) => {
    const suggester = createDuckDuckGo(clientFor({ '/ac/': { body } }), 'live');
    await expect(suggester.suggest(asked, signal)).rejects.toEqual(failure('bad_response'));
  });
});

it.each([
  [1, 100],
  [1_000_000, 100 / 7],
  [10_000_000, 0],
])('rank %i is worth %f', (rank, score) => expect(rankScore(rank)).toBeCloseTo(score, 9));

const input = (name: AuthorityInput, value: number | null, reason = 'unknown_to_source'): { name: AuthorityInput; figure: Figure } => ({
  name,
  figure: { value, unit: 'any', source: 'any', kind: 'provider', ...(value === null && { reason }) },
});

it('the estimate is the mean of its inputs, and names them and the formula', () => {
  expect(serviceAuthority([input('open_page_rank', 4), input('tranco_rank', 1)])).toEqual({
    value: 70,
    unit: 'score_0_100',
    source: 'service',
    kind: 'service_estimate',
    method: 'mean(10 * open_page_rank, max(0, 100 * (1 - log10(tranco_rank) / 7)))',
    inputs: [
      { name: 'open_page_rank', value: 4 },
      { name: 'tranco_rank', value: 1 },
    ],
  });
  expect(serviceAuthority([input('cc_harmonic_rank', 10)])).toMatchObject({
    value: 85.71,
    method: 'max(0, 100 * (1 - log10(cc_harmonic_rank) / 7))',
  });
  expect(serviceAuthority([input('open_page_rank', 0)]).value).toBe(0);
});

it('an input that is missing leaves no estimate: the rest would be another measure under the same name', () => {
  const estimate = serviceAuthority([input('open_page_rank', null, 'upstream_error'), input('tranco_rank', 10)]);
  expect(estimate).toMatchObject({ value: null, reason: 'upstream_error', inputs: [{ value: null }, { value: 10 }] });
  expect(estimate.method).toBe(serviceAuthority([input('open_page_rank', 4), input('tranco_rank', 10)]).method);
  expect(serviceAuthority([])).toMatchObject({ value: null, reason: 'not_configured', inputs: [] });
});
