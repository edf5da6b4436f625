import { type IncomingMessage, type ServerResponse } from 'node:http';
import { gleadService } from '../../../services/products/glead/routes';
import { type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { type Sandbox } from '../../../services/sandbox/start-sandbox';
import { serviceWith, startTestSandbox, startTestWorker } from '../../workers/ranking/setup';
import { type Harness } from '../../kit/harness';
import { listenWeb, type Web } from '../../kit/listen-web';

const PUBLIC = '93.184.216.34';

/** Google Places, whose answer each test gives, and the web, which a dialled public address leads to. */
let google: Web;
let web: Web;
let websites: (string | undefined)[];
let visit: (request: IncomingMessage, response: ServerResponse) => unknown;
let resolved: string[];
let addresses: Record<string, string[]>;
let sandbox: Sandbox;
let workers: WorkerServer[];
let glead: Harness;
let without: Harness;

const resolve = (host: string): Promise<string[]> => {
  resolved.push(host);
  return Promise.resolve(addresses[host] ?? [PUBLIC]);
};

beforeAll(async () => {
  google = await listenWeb((_request, response) => {
    const places = websites.map((websiteUri, index) => ({ id: `place-${index}`, displayName: { text: 'A shop' }, websiteUri }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ places }));
  });
  web = await listenWeb((request, response) => visit(request, response));
  sandbox = await startTestSandbox();
  const env = { SANDBOX_URL: sandbox.url, RANKING_GOOGLE_PLACES_URL: google.url, RANKING_GOOGLE_PLACES_KEY: 'k' };
  const crawling = { ...env, RANKING_EMAIL_CRAWL: 'on', RANKING_EMAIL_CRAWL_MS: '20000' };
  workers = await Promise.all([crawling, env].map((each) => startTestWorker(each, { dial: web.dial, resolve })));
  [glead, without] = (await Promise.all(workers.map(({ address }) => serviceWith(gleadService, address)))) as [Harness, Harness];
});
afterAll(async () => {
  await Promise.all([glead, without].map(({ app }) => app.close()));
  await Promise.all(workers.map((worker) => worker.close(100)));
  await Promise.all([google, web, sandbox].map((each) => each.close()));
});
beforeEach(() => {
  web.dialled.length = 0;
  resolved = [];
  addresses = {};
  visit = (request, response): unknown => {
    if (request.url === '/robots.txt') return response.writeHead(404, { connection: 'close' }).end();
    return response
      .writeHead(200, { connection: 'close', 'content-type': 'text/html' })
      .end(`<a href="mailto:info@${request.headers.host}">mail</a>`);
  };
});

/** Of each lead its addresses, or why there are none. */
async function emailsOf(harness: Harness, mode: 'live' | 'test', input: object = {}): Promise<(string[] | string | null)[]> {
  const payload = { query: 'dentist', ...input };
  const response = await harness.call({ method: 'POST', url: '/glead/search', payload, context: { mode } });
  const { leads } = response.json<{ data: { leads: { emails: string[] | null; emails_reason: string | null }[] } }>().data;
  return leads.map(({ emails, emails_reason }) => emails ?? emails_reason);
}

describe('with the crawl switched on', () => {
  it('a test key sees the e-mails of the documented input, and touches no network', async () => {
    expect(await emailsOf(glead, 'test', { limit: 3 })).toEqual([
      ['hello@business-01.example.com', 'billing@business-01.example.com'],
      ['desk@business-02.example.com'],
      ['orchid.dental@gmail.com'],
    ]);
    const others = (await emailsOf(glead, 'test', { limit: 60 })).slice(3);
    expect([others.length, others.filter((each) => Array.isArray(each) && each.length > 0)]).toEqual([42, []]);
    expect([web.dialled, resolved]).toEqual([[], []]);
  });

  it('a live key sees the e-mails that websites show; a lead without a website has none', async () => {
    websites = ['http://www.one.com/', undefined, 'http://two.co.in/shop'];
    expect(await emailsOf(glead, 'live')).toEqual([['info@www.one.com'], 'no_website', ['info@two.co.in']]);
    expect(new Set(web.dialled)).toEqual(new Set([PUBLIC]));
  });

  it.each(['http://2130706433/', 'file:///etc/passwd'])('the website %s is neither looked up nor dialled', async (website) => {
    websites = [website];
    expect(await emailsOf(glead, 'live')).toEqual([expect.any(String)]);
    expect([web.dialled, resolved]).toEqual([[], []]);
  });

  it('a name that leads inside is never dialled, nor is a redirect or a contact page that leads there', async () => {
    addresses = { 'inside.com': ['10.0.0.5'], 'mixed.com': [PUBLIC, '127.0.0.1'], 'intra.out.com': ['192.168.0.9'] };
    visit = (request, response): unknown => {
      const { host = '' } = request.headers;
      if (request.url === '/robots.txt') return response.writeHead(404, { connection: 'close' }).end();
      if (host === 'moved.com') return response.writeHead(302, { connection: 'close', location: 'http://127.0.0.1/' }).end();
      const links = '<a href="http://intra.out.com/contact">Contact</a><a href="http://127.0.0.1/contact">Contact</a>';
      return response.writeHead(200, { connection: 'close', 'content-type': 'text/html' }).end(links);
    };
    websites = ['http://inside.com/', 'http://mixed.com/', 'http://moved.com/', 'http://out.com/'];
    expect(await emailsOf(glead, 'live')).toEqual([expect.any(String), expect.any(String), expect.any(String), expect.any(String)]);
    expect(new Set(web.dialled)).toEqual(new Set([PUBLIC]));
    expect(resolved).toContain('intra.out.com');
  });
});

it('without the setting nobody’s website is read', async () => {
  websites = ['http://www.one.com/'];
  expect(await emailsOf(without, 'live')).toEqual(['not_configured']);
  expect(await emailsOf(without, 'test', { limit: 3 })).toEqual(['not_configured', 'not_configured', 'not_configured']);
  expect([web.dialled, resolved]).toEqual([[], []]);
});
