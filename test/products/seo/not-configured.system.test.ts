import { type SeoStage, startSeoStage } from './seo-stage';

describe('a worker with nothing configured', () => {
  let stage: SeoStage;
  beforeAll(async () => {
    stage = await startSeoStage({
      env: { SEO_TRANCO: 'false', SEO_DUCKDUCKGO: 'false', SEO_GOOGLE_SUGGEST: 'false' },
      network: { resolve: () => Promise.resolve([]) },
    });
  });
  afterAll(() => stage?.close());

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
