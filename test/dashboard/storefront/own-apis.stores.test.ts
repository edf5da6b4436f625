import { writeProductDocuments } from '../../../services/selling/catalogue/product-documents';
import { PRODUCTS } from '../../support/catalogue';
import { describeOurs, Shopfront } from '../support/shopfront';

const shop = Shopfront.forFile();

describe('the document of another API', () => {
  afterEach(() => void (shop.readDocument = describeOurs));

  it('shows what pages can show, with what it refers to written out, and leaves odd operations to the document', async () => {
    shop.readDocument = () => {
      const document = JSON.parse(describeOurs()) as { paths: Record<string, Record<string, object>>; components: object };
      const own = document.paths['/ip']?.['get'];
      const byReference = {
        ...own,
        parameters: [{ $ref: '#/components/parameters/Ip' }],
        requestBody: { $ref: '#/components/requestBodies/Any' },
      };
      const components = {
        parameters: { Ip: { name: 'address', in: 'query', schema: { type: 'string' } } },
        requestBodies: { Any: { content: { 'application/json': { schema: { properties: { note: { type: 'string' } } } } } } },
      };
      return JSON.stringify({
        ...document,
        components: { ...document.components, ...components },
        paths: { ...document.paths, '/ip': { get: byReference, post: { ...own, responses: 'odd' } } },
      });
    };
    await shop.sell();
    const { statusCode, body } = await shop.get('/reference/api-ip');
    expect(statusCode).toBe(200);
    expect(body).toContain('id="get_ip"');
    expect(body).toMatch(/Query<\/caption>.*address.*Body, as application\/json<\/caption>.*note/);
    expect(body).not.toContain('id="post_ip"');
    expect(body).toContain('This page cannot show POST /ip:');
    expect((await shop.get('/reference/api-pincode')).body).toContain('id="post_pincode"');
  });
});

describe('a shop of one API', () => {
  const weather = { id: 'weather', title: 'Weather', description: 'Forecasts.', prefix: '/weather', openapi: 'weather.json' };
  const routes = [{ method: 'GET' as const, path: '/weather/{city}', purpose: 'Forecast of a city' }];
  beforeAll(async () => {
    await shop.sell([{ ...weather, routes, plans: [], base: { daily: 1, monthly: 1 }, subscribable: true }]);
    const responses = {
      '201': { description: 'Fine', content: { 'application/json': { schema: { type: 'object', example: { rain: 7 } } } } },
    };
    await writeProductDocuments(
      shop.dashboard.pool,
      new Map([['weather', { openapi: '3.1.0', paths: { '/{city}': { post: { responses } } } }]]),
    );
    shop.refresh();
  });
  afterAll(() => shop.sell());

  it.each([
    ...[
      '/',
      '/products',
      '/products/weather',
      '/pricing',
      '/reference',
      '/reference/weather',
      '/reference/weather.md',
      '/reference/errors',
      '/status',
      '/search?q=session',
    ],
    ...['/docs', '/docs/first-call', '/docs/keys-and-rules', '/docs/limits', '/docs/errors', '/docs/team', '/llms.txt', '/sitemap.xml'],
  ])('speaks at %s of its own API alone', async (path) => {
    const { statusCode, body } = await shop.get(path);
    expect(statusCode).toBe(200);
    expect(
      body.match(
        /aadhaar|captcha|\botp\b|\bapk\b|pincode|\bgst\b|gdplay|grank|glead|vahaan|api-(?:ip|seo|app|image)\b|8\.8\.8\.8|1 HTTP APIs/i,
      )?.[0],
    ).toBeUndefined();
    // What our services alone send, and how they read parameters.
    expect(body.match(/too_complex|validation_failed|link_not_valid|near miss/i)?.[0]).toBeUndefined();
  });

  it('has its call beside its answer, its operations and its plans on its home', async () => {
    const { body } = await shop.get('/');
    for (const text of [
      '<h1>Weather</h1>',
      'Forecasts.',
      'A call and its answer',
      'POST</span> <code>/weather/{city}</code>',
      '>Plans</h2>',
      'a day',
    ])
      expect(body).toContain(text);
    expect(body).not.toContain('/products/weather');
  });

  it('counts one product as one, and promises no test keys where they are refused', async () => {
    expect((await shop.get('/products')).body).toContain('One product with its limits, plans and prices.');
    for (const path of ['/', '/pricing']) expect((await shop.get(path)).body).not.toMatch(/test keys/i);
    expect((await shop.get('/llms.txt')).body).not.toContain('tg_test_');
  });

  it('describes its own API alone, and shows its success', async () => {
    const { body } = await shop.get('/openapi.json');
    expect(Object.keys(JSON.parse(body).paths)).toEqual(['/weather/{city}']);
    expect(JSON.parse(body).info).not.toHaveProperty('license');
    expect(body).not.toMatch(/aadhaar|captcha|\botp\b|\bapk\b|pincode|\bgst\b|gdplay/i);
    expect((await shop.get('/reference/weather')).body).toMatch(/rain(?:&quot;|")?: 7/);
  });
});

describe('a broken operation of another API', () => {
  const broken = (schema: unknown): object => ({
    openapi: '3.1.0',
    paths: {
      '/fine': { get: { responses: { '200': { description: 'Fine' } } } },
      '/bad': { get: { responses: { '200': { description: 'Bad', content: { 'application/json': { schema } } } } } },
    },
  });
  const nested = (deep: number): object => (deep === 0 ? {} : { items: nested(deep - 1) });

  it.each<[string, unknown]>([
    ['a $ref that leads nowhere', { $ref: '#/components/schemas/Nowhere' }],
    ['a $ref that is no text', { $ref: 5 }],
    ['schemas nested until a stack ends', nested(1_500)],
  ])('is named on the page of its product and in the log, and every other product keeps its page: %s', async (_, schema) => {
    const members = { id: 'weather', title: 'Weather', description: 'Forecasts.', prefix: '/weather', routes: [], plans: [] };
    await shop.sell([...PRODUCTS, { ...members, base: { daily: 1, monthly: 1 }, subscribable: true, openapi: 'weather.json' }]);
    await writeProductDocuments(shop.dashboard.pool, new Map([['weather', broken(schema)]]));
    shop.refresh();
    const page = await shop.get('/reference/weather');
    expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining('This page cannot show GET /weather/bad:')]);
    expect(page.body).toContain('id="weather_get_fine"');
    expect((await shop.get('/reference/api-pincode')).body).toContain('id="post_pincode"');
    expect((await shop.get('/reference')).body).toContain('href="/reference/api-ip#get_ip"');
    expect(shop.dashboard.log()).toMatch(/"operation":"GET \/weather\/bad".*left out/);
  });
});

describe('an empty catalogue', () => {
  it.each(['/', '/products', '/pricing', '/status'])('leaves no empty table, figure or promise on %s', async (path) => {
    await shop.sell([]);
    const { body } = await shop.get(path);
    expect(body).toMatch(/Nothing is on sale yet\.|Products appear here as soon as they are on sale\./);
    expect(body).not.toMatch(/<table|All 0 products|Limits and prices of each|<form class="expected"|Each bar is a day/);
    await shop.sell();
  });
});

it('an empty shop says on its home with which commands its seller begins', async () => {
  await shop.sell([]);
  const { body } = await shop.get('/');
  await shop.sell();
  for (const command of ['npx tollgate product new', 'npx tollgate catalogue apply'])
    expect(body.replaceAll(/<[^>]+>/g, '')).toContain(command);
});
