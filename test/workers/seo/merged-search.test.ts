import { type PageReader } from '../../../services/kit/pages/page-reader';
import { type Research } from '../../../services/workers/seo/research/research';
import { researchSerp } from '../../../services/workers/seo/research/research-serp';
import { MergedSearch } from '../../../services/workers/seo/research/search';
import { type SearchEngine } from '../../../services/workers/seo/sources/search-engine';
import { SourceFailed } from '../../../services/workers/seo/sources/source-failed';
import { SourceLog } from '../../../services/workers/seo/sources/source-log';
import { testClock } from '../../kit/test-clock';
import { fc, propertyRuns } from '../../support/fast-check';
import { pageFindings, nameFindings, isCommercialAnchor } from '../../../services/workers/seo/research/spam-findings';
import { type Findings, judgeSpam, SPAM_WEIGHTS, type SpamSignalId } from '../../../services/workers/seo/research/spam-signals';
import { parseTarget } from '../../../services/workers/seo/research/target';
import { parsePage } from '../../../services/kit/pages/parse-page';

const QUERY = { query: 'tea', country: 'IN', language: 'en' };
const signal = new AbortController().signal;

/** Requests that were running at the same time, of whatever engine, count as one round trip. */
let rounds: number;
let running: number;
let asked: string[];
beforeEach(() => {
  rounds = 0;
  running = 0;
  asked = [];
});

interface FakeEngine {
  readonly name: string;
  /** Hosts in the engine's order. */
  readonly hosts: readonly string[];
  readonly pageSize?: number;
  readonly hasFixedPages?: boolean;
  /** Results that a page really shows. */
  readonly shown?: number;
  readonly failsAt?: number;
}

function engineOf({ name, hosts, pageSize = 10, hasFixedPages = false, shown = pageSize, failsAt }: FakeEngine): SearchEngine {
  return {
    name,
    pageSize,
    hasFixedPages,
    mostPages: 20,
    targetingOf: () => ({ country: null, language: null, location: null, coordinates: null, device: null }),
    searchPage: async (_query, page) => {
      asked.push(`${name} ${page}`);
      if (running++ === 0) rounds++;
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      if (page === failsAt) throw new SourceFailed('upstream_error');
      const size = hasFixedPages ? pageSize : shown;
      const start = (page - 1) * size;
      const results = hosts
        .slice(start, start + shown)
        .map((host) => ({ title: host, url: `https://${host}/`, snippet: '', engine: name }));
      return { results };
    },
  };
}

function researchWith(...engines: readonly FakeEngine[]): Research {
  const none = undefined;
  return {
    sources: { engines: engines.map(engineOf), suggesters: [], openPageRank: none, tranco: none, webGraph: none, crawlIndex: none, blockList: none, linkIndex: none, states: [] },
    log: new SourceLog(testClock, signal, 'live'),
    pages: {} as PageReader,
    signal,
    clock: testClock,
  }; // prettier-ignore
}

const hosts = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index + 1}.example`);
const serp = (engines: readonly FakeEngine[], page: number, num: number) => researchSerp(researchWith(...engines), { ...QUERY, page, num });
const listOf = (results: readonly { readonly title: string; readonly position: number | null }[]) => results.map(({ title, position }) => `${position} ${title}`); // prettier-ignore

describe('one engine that takes no count', () => {
  const engine = { name: 'searxng', hosts: hosts('s', 60) };

  it('gives its own ranks: page 2 of five is 6 to 10', async () => {
    const { results, merge } = await serp([engine], 2, 5);
    expect(listOf(results)).toEqual(['6 s6.example', '7 s7.example', '8 s8.example', '9 s9.example', '10 s10.example']);
    expect(results[0]?.ranks).toEqual({ searxng: 6 });
    expect(merge).toBeNull();
    expect(asked).toEqual(['searxng 1']);
  });

  it('twenty results take one round trip, two when its pages are short', async () => {
    expect((await serp([engine], 1, 20)).results).toHaveLength(20);
    expect(rounds).toBe(1);
    rounds = 0;
    expect((await serp([{ ...engine, shown: 7 }], 1, 20)).results).toHaveLength(20);
    expect(rounds).toBe(2);
  });

  it('a page of the web that it repeats keeps its better rank', async () => {
    const { results } = await serp([{ name: 'searxng', hosts: ['a.example', 'b.example', 'a.example', 'c.example'] }], 1, 10);
    expect(results.map(({ title, ranks }) => [title, ranks['searxng']])).toEqual([['a.example', 1], ['b.example', 2], ['c.example', 4]]); // prettier-ignore
  });
});

describe('two engines', () => {
  const one = { name: 'searxng', hosts: hosts('s', 60) };
  const two = { name: 'brave', hosts: hosts('b', 60), pageSize: 20, hasFixedPages: true };

  it('are merged by best rank, and twenty results take two round trips at most', async () => {
    const { results, merge } = await serp([one, two], 1, 4);
    expect(listOf(results)).toEqual(['1 s1.example', '2 b1.example', '3 s2.example', '4 b2.example']);
    expect(merge).toBe('best_rank');
    const same = { ...two, hosts: one.hosts };
    for (const engines of [[one, same], [one, same].map((each) => ({ ...each, shown: 7 }))]) {
      rounds = 0;
      expect((await serp(engines, 1, 20)).results).toHaveLength(20);
      expect(rounds).toBeLessThanOrEqual(2);
    }
  });

  it('pages of their results never overlap, and together are the whole', async () => {
    const order = fc.shuffledSubarray(hosts('x', 50), { minLength: 20 });
    const sizes = fc.record({ num: fc.integer({ min: 1, max: 20 }), shown: fc.integer({ min: 3, max: 10 }) });
    await fc.assert(
      fc.asyncProperty(order, order, sizes, async (first, second, { num, shown }) => {
        const engines = [
          { ...one, hosts: first, shown },
          { ...two, hosts: second },
        ];
        const pages = [];
        for (let page = 1; page <= Math.ceil(20 / num); page++) pages.push(...(await serp(engines, page, num)).results);
        const whole = await new MergedSearch(researchWith(...engines), QUERY).first(pages.length);
        expect(new Set(pages.map(({ url }) => url)).size).toBe(pages.length);
        expect(listOf(pages)).toEqual(listOf(whole).slice(0, pages.length));
        for (const { ranks, title } of pages) {
          for (const [name, rank] of Object.entries(ranks)) expect((name === 'brave' ? second : first)[rank - 1]).toBe(title);
        }
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  it('one that fails leaves the other’s order', async () => {
    const { results, merge } = await serp([one, { ...two, failsAt: 1 }], 1, 3);
    expect(listOf(results)).toEqual(['1 s1.example', '2 s2.example', '3 s3.example']);
    expect(merge).toBeNull();
  });

  it('one that fails further down leaves positions open from there', async () => {
    const { results } = await serp([{ ...one, failsAt: 2 }, two], 1, 20);
    expect(listOf(results).slice(0, 20)).toEqual(expect.arrayContaining(['1 s1.example', '20 b10.example']));
    const next = await serp([{ ...one, failsAt: 2 }, two], 2, 20);
    expect(listOf(next.results).at(0)).toBe('null b11.example');
  });
});

it('the weights are those of the contract', () => {
  expect(SPAM_WEIGHTS).toEqual({
    poison_words: 25, blocklisted: 40, spam_tld: 10, long_domain: 5, many_hyphens: 6, many_digits: 5, consonant_run: 5, no_https: 8,
    no_contact: 5, no_favicon: 3, many_external_links: 10, external_link_ratio: 10, hidden_links: 15, cross_domain_redirect: 10,
    noindex: 5, commercial_anchor: 8, sitewide_link: 4, high_open_page_rank: -10,
  }); // prettier-ignore
});

const IDS = Object.keys(SPAM_WEIGHTS) as SpamSignalId[];
/** These hit, five harmless ones were checked too. */
function found(...hits: SpamSignalId[]): Findings {
  const quiet = IDS.filter((id) => !hits.includes(id)).slice(0, 5);
  return Object.fromEntries([
    ...quiet.map((id) => [id, { hit: false, evidence: '' }]),
    ...hits.map((id) => [id, { hit: true, evidence: 'x' }]),
  ]);
}

describe('the verdict', () => {
  it.each<[number, string, SpamSignalId[]]>([
    [24, 'clean', ['no_https', 'no_contact', 'no_favicon', 'commercial_anchor']],
    [25, 'caution', ['poison_words']],
    [60, 'spam', ['blocklisted', 'spam_tld', 'many_external_links']],
    [100, 'spam', IDS],
    [15, 'clean', ['poison_words', 'high_open_page_rank']],
  ])('%i points are %s', (score, tier, hits) => expect(judgeSpam(found(...hits), true)).toMatchObject({ score, tier }));

  it('is never clean with fewer than five signals checked', () => {
    const few = Object.fromEntries(IDS.slice(0, 4).map((id) => [id, { hit: false, evidence: '' }]));
    expect(judgeSpam(few, true)).toMatchObject({ checked: 4, tier: 'caution' });
    expect(judgeSpam({ ...few, noindex: { hit: false, evidence: '' } }, true)).toMatchObject({ checked: 5, tier: 'clean' });
  });

  it('on a page that could not be read is caution without a score, whatever its name says', () => {
    expect(judgeSpam(found(), false)).toMatchObject({ score: null, tier: 'caution' });
    expect(judgeSpam(found('blocklisted', 'poison_words'), false)).toMatchObject({ score: null, tier: 'caution' });
  });

  it('names every signal, unchecked ones without a verdict', () => {
    const { signals } = judgeSpam({ noindex: { hit: true, evidence: 'noindex' } }, true);
    expect(signals.map(({ id }) => id)).toEqual(IDS);
    expect(signals.find(({ id }) => id === 'noindex')).toEqual({ id: 'noindex', hit: true, weight: 5, evidence: 'noindex' });
    expect(signals.find(({ id }) => id === 'spam_tld')).toEqual({ id: 'spam_tld', hit: null, weight: 10, evidence: null });
  });
});

const hitsOf = (findings: Findings) => IDS.filter((id) => findings[id]?.hit === true);

describe('a name', () => {
  it.each<[string, SpamSignalId[]]>([
    ['shop.top', ['spam_tld']],
    [`${'a'.repeat(22)}.com`, ['long_domain']],
    ['one-two-three.com', ['many_hyphens']],
    ['ab123.com', ['many_digits']],
    ['abcdfga.com', ['consonant_run']],
    ['news.bbc.co.uk', []],
    ['93.184.216.34', []],
  ])('%s gives away %j', (host, hits) => expect(hitsOf(nameFindings(host))).toEqual(hits));
});

const GOOD = `<title>A page</title><link rel=icon href=/i><a href="mailto:a@b.example">write</a><p>${'word '.repeat(200)}</p>`;
interface PageOptions {
  readonly url?: string;
  readonly asked?: string;
  readonly target?: string;
  readonly headers?: Record<string, string>;
}

function pageHits(html: string, options: PageOptions = {}): SpamSignalId[] {
  const { url = 'https://site.example/', asked = url, headers = {}, target } = options;
  const page = parsePage(html, url);
  const visit = { state: 'read' as const, status: 200, robotsAllowed: true, url: new URL(url), headers, page };
  const found = pageFindings({
    visit, asked: new URL(asked), hasIcon: page.hasIcon, target: target === undefined ? undefined : parseTarget('target', target), isSitewide: undefined,
  }); // prettier-ignore
  return hitsOf(found);
}
const links = (count: number) => Array.from({ length: count }, (_, index) => `<a href="https://o${index}.example/">x</a>`).join(' ');

describe('a page', () => {
  const WORDS = `<p>${'word '.repeat(2_000)}</p>`;
  const TEN_WORDS = '<title>t</title><link rel=icon href=/i><a href="mailto:a@b.example">w</a><p>a b c d e f g h</p>';
  const ANCHORS = `${GOOD}<a href="https://t.example/">T</a><a href="https://o.example/">buy cheap shoes</a>`;

  it.each<[string, string, SpamSignalId[], PageOptions]>([
    ['that is well kept', GOOD, [], {}],
    ['with a bad word in its title', GOOD.replace('A page', 'Best CASINO'), ['poison_words'], {}],
    ['with an anchor that sells', `${GOOD}<a href="https://o.example/">buy cheap shoes</a>`, ['commercial_anchor'], {}],
    ['with hidden links', `${GOOD}<div style="display:none">${links(1)}</div>`, ['hidden_links'], {}],
    ['without icon, contact and TLS', WORDS, ['no_https', 'no_contact', 'no_favicon'], { url: 'http://site.example/' }],
    ['that is mostly links', TEN_WORDS + links(2), ['external_link_ratio'], {}],
    ['that leads to another domain', GOOD, ['cross_domain_redirect'], { asked: 'https://other.example/' }],
    ['whose link to the target does not sell', ANCHORS, [], { target: 't.example' }],
    ['whose link to the target sells', ANCHORS, ['commercial_anchor'], { target: 'o.example' }],
  ])('%s gives away what it should', (_what, html, hits, options) => expect(pageHits(html, options)).toEqual(hits));
});

it.each([
  ['buy cheap shoes', true],
  ['buy', false],
  ['our deal with the city to plant more trees', false],
])('whether "%s" is a commercial anchor: %s', (anchor, commercial) => expect(isCommercialAnchor(anchor)).toBe(commercial));
