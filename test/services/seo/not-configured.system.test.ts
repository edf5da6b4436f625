import { seoService } from '../../../services/seo/routes';
import { createHarness } from '../kit/harness';
import { type SeoStage, startSeoStage } from './seo-stage';

describe('a worker with nothing configured', () => {
  let stage: SeoStage;
  beforeAll(async () => {
    stage = await startSeoStage({ env: { SEO_TRANCO: 'false', SEO_DUCKDUCKGO: 'false', SEO_GOOGLE_SUGGEST: 'false' } });
  });
  afterAll(() => stage.close());

  test.each([
    ['/seo/serp', { query: 'tea' }, 'SEO_SEARXNG_URL'],
    ['/seo/backlinks', { target: 'shop.example' }, 'SEO_SEARXNG_URL'],
    ['/seo/link_pyramid', { target: 'shop.example' }, 'SEO_SEARXNG_URL'],
    ['/seo/keywords', { keyword: 'tea' }, 'SEO_DUCKDUCKGO'],
    ['/seo/authority', { domain: 'shop.example' }, 'SEO_OPEN_PAGE_RANK_KEY'],
  ])('answers a live %s with 503 naming the setting', async (route, body, setting) => {
    const reply = await stage.post(route, body, 'live');
    expect([reply.statusCode, reply.json()]).toMatchObject([503, { code: 'upstream_not_configured', setting, detail: expect.stringContaining(setting) }]); // prettier-ignore
  });

  test('still answers test keys from the sandbox', async () => {
    expect((await stage.post('/seo/serp', { query: 'tea' })).statusCode).toBe(200);
  });
});

test('a worker without a sandbox answers test keys 503 naming it', async () => {
  const stage = await startSeoStage({ env: { SANDBOX_URL: '' } });
  try {
    const reply = await stage.post('/seo/spam', { url: 'https://shop.example/' });
    expect([reply.statusCode, reply.json()]).toMatchObject([503, { code: 'upstream_not_configured', setting: 'SANDBOX_URL' }]);
  } finally {
    await stage.close();
  }
});

describe('a service without a worker', () => {
  const { call } = createHarness(seoService, { deps: { worker: undefined } });

  test.each(['/seo/health', '/seo/serp'])('answers %s with 503 naming the setting', async (url) => {
    const reply =
      url === '/seo/health' ? await call({ method: 'GET', url }) : await call({ method: 'POST', url, payload: { query: 'tea' } });
    expect([reply.statusCode, reply.json()]).toMatchObject([503, { code: 'upstream_not_configured', setting: 'SEO_WORKER_URL' }]);
  });

  test('shows its index all the same', async () => {
    const reply = await call({ method: 'GET', url: '/seo' });
    expect(reply.json()).toMatchObject({ status: 'success', product: 'api-seo' });
    expect(reply.json().endpoints).toHaveLength(8);
  });
});
