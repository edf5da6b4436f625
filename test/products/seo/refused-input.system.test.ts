import { startSeoStage } from './seo-stage';
import { fc, propertyRuns } from '../../support/fast-check';
import { useOpened } from '../../support/opened';

describe('input', () => {
  const stage = useOpened(startSeoStage);

  const ROUTES = ['authority', 'backlinks', 'keywords', 'link_pyramid', 'serp', 'spam'].map((each) => `/seo/${each}`);

  describe('a bad body is a 422 naming the field', () => {
    it.each<[string, unknown, string[]]>([
      ['/seo/serp', {}, ['query']],
      ['/seo/serp', { query: 'x'.repeat(401) }, ['query']],
      ['/seo/serp', { query: 'tea', num: 21 }, ['num']],
      ['/seo/serp', { query: 'tea', country: 'IND', language: 'english!' }, ['country', 'language']],
      ['/seo/serp', { query: 'tea', latitude: 12.9 }, ['longitude']],
      ['/seo/keywords', { keyword: 'tea', limit: 101 }, ['limit']],
      ['/seo/authority', { url: 'https://a.example/', domain: 'a.example' }, ['url']],
      ['/seo/authority', { domain: '127.0.0.1' }, ['domain']],
      ['/seo/spam', { url: 'ftp://a.example/' }, ['url']],
      ['/seo/backlinks', { target: 'a.example', candidates: ['https://b.example/', 'b'] }, ['candidates.1']],
      ['/seo/backlinks', { target: 'a.example', candidates: Array(101).fill('https://b.example/') }, ['candidates']],
      ['/seo/link_pyramid', {}, ['links']],
      ['/seo/link_pyramid', { links: ['javascript:alert(1)'] }, ['links.0']],
    ])('%s %j: %j', async (route, body, fields) => {
      const reply = await stage.post(route, body);
      expect(reply.statusCode).toBe(422);
      expect(reply.json().errors.map(({ field }: { field: string }) => field)).toEqual(fields);
    });
  });

  it('forms and queries are read like JSON; lists are one URL a line', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const payload = new URLSearchParams({ links: 'https://blog.example/\nhttps://down.example/' }).toString();
    const reply = await stage.call({ method: 'POST', url: '/seo/link_pyramid', payload, headers: form, context: { mode: 'test' } });
    expect(reply.json().data.totals).toMatchObject({ clean: { value: 1 }, caution: { value: 1 } });
    const query = await stage.call({ method: 'POST', url: '/seo/serp?query=tea&num=3', context: { mode: 'test' } });
    expect(query.json().data.results).toHaveLength(3);
  });

  const host = fc.constantFrom('shop.example', 'blog.example', 'old.example', 'xn--mnchen-3ya.example', 'a.b.co.uk', 'gone.example');
  const pageUrl = fc
    .tuple(fc.constantFrom('http', 'https'), host, fc.webPath())
    .map(([scheme, name, path]) => `${scheme}://${name}${path}`);
  const words = fc.stringMatching(/^[\p{L}\p{N}][\p{L}\p{N} '"&<>%-]{0,40}$/u);
  const optional = { requiredKeys: [] as never[] };
  const place = fc.record({ country: fc.constantFrom('IN', 'us'), language: fc.constantFrom('en', 'pt-BR') }, optional);

  /** Inputs that satisfy each route's documentation. */
  const VALID: Readonly<Record<string, fc.Arbitrary<Record<string, unknown>>>> = {
    '/seo/authority': fc.oneof(fc.record({ url: pageUrl, scope: fc.constantFrom('domain', 'page') }), fc.record({ domain: host })),
    '/seo/backlinks': fc.record({
      target: fc.oneof(host, pageUrl),
      limit: fc.integer({ min: 1, max: 4 }),
      candidates: fc.array(pageUrl, { maxLength: 3 }),
    }),
    '/seo/keywords': fc
      .tuple(fc.record({ keyword: words, limit: fc.integer({ min: 1, max: 100 }) }), place)
      .map(([a, b]) => ({ ...a, ...b })),
    '/seo/link_pyramid': fc.record({ links: fc.array(pageUrl, { minLength: 1, maxLength: 3 }) }),
    '/seo/serp': fc
      .tuple(fc.record({ query: words, page: fc.integer({ min: 1, max: 10 }), num: fc.integer({ min: 1, max: 20 }) }), place)
      .map(([a, b]) => ({ ...a, ...b })),
    '/seo/spam': fc.oneof(fc.record({ url: pageUrl, target: host }), fc.record({ domain: host })),
  };

  it.each(ROUTES)('any input that %s documents succeeds; with a member replaced it is a success, a 400 or a 422', async (route) => {
    await fc.assert(
      fc.asyncProperty(VALID[route] ?? fc.constant({}), fc.nat(), fc.jsonValue({ maxDepth: 2 }), async (body, index, value) => {
        const reply = await stage.post(route, body);
        expect([reply.statusCode, reply.body]).toEqual([200, expect.any(String)]);
        expect(reply.json()).toMatchObject({ status: 'success', data: {}, sources: [expect.anything(), ...reply.json().sources.slice(1)] });
        const names = Object.keys(body);
        const { statusCode } = await stage.post(route, { ...body, [names[index % names.length] ?? 'x']: value });
        expect([200, 400, 422]).toContain(statusCode);
      }),
      { numRuns: propertyRuns(30) },
    );
  });
});

describe('sources', () => {
  describe('a worker with nothing configured', () => {
    const env = { SEO_TRANCO: 'false', SEO_DUCKDUCKGO: 'false', SEO_GOOGLE_SUGGEST: 'false' };
    const stage = useOpened(() => startSeoStage({ env, network: { resolve: () => Promise.resolve([]) } }));

    it.each([
      ['/seo/serp', { query: 'tea' }],
      ['/seo/backlinks', { target: 'shop.example' }],
      ['/seo/link_pyramid', { target: 'shop.example' }],
      ['/seo/keywords', { keyword: 'tea' }],
      ['/seo/authority', { domain: 'shop.example' }],
    ])('answers a live %s with 503', async (route, body) => {
      const reply = await stage.post(route, body, 'live');
      expect([reply.statusCode, reply.json()]).toMatchObject([503, { code: 'upstream_not_configured' }]);
    });

    it.each([
      ['/seo/spam', { url: 'https://none.example/' }],
      ['/seo/spam', { domain: 'none.example' }],
      ['/seo/backlinks', { target: 'shop.example', limit: 1, candidates: ['https://none.example/'] }],
      ['/seo/link_pyramid', { links: ['https://none.example/', 'https://nor-this.example/'] }],
    ])('answers a live %s %j, whose hosts do not exist, with 502', async (route, body) => {
      const reply = await stage.post(route, body, 'live');
      expect([reply.statusCode, reply.json()]).toMatchObject([
        502,
        { code: 'pages_unreachable', sources: [{ name: 'page_fetch', ok: false, error: 'host_unknown' }] },
      ]);
    });
  });
});
