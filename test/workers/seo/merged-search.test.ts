import { type PageReader } from '../../../services/kit/pages/page-reader';
import { type Research } from '../../../services/workers/seo/research/research';
import { researchSerp } from '../../../services/workers/seo/research/research-serp';
import { MergedSearch } from '../../../services/workers/seo/research/search';
import { type SearchEngine } from '../../../services/workers/seo/sources/search-engine';
import { SourceFailed } from '../../../services/workers/seo/sources/source-failed';
import { SourceLog } from '../../../services/workers/seo/sources/source-log';
import { testClock } from '../../kit/test-clock';
import { fc, propertyRuns } from '../../support/fast-check';

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
