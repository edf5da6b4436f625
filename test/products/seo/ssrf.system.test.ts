import { type IncomingMessage, type ServerResponse } from 'node:http';
import { listenWeb, type Web } from '../../kit/listen-web';
import { type SeoStage, startSeoStage } from './seo-stage';

const PUBLIC = '93.184.216.34';
/** Every fetch dials anew, so that what is dialled can be counted. */
const ENDING = { connection: 'close' };

let stage: SeoStage;
let web: Web;
let listener: (request: IncomingMessage, response: ServerResponse) => unknown;
/** Names that were looked up. */
let resolved: string[];
let addresses: Record<string, string[]>;

beforeAll(async () => {
  web = await listenWeb((request, response) => listener(request, response));
  const network = {
    dial: web.dial,
    resolve: (host: string) => {
      resolved.push(host);
      return Promise.resolve(addresses[host] ?? [PUBLIC]);
    },
  };
  stage = await startSeoStage({ network, liveOpenPageRank: true, env: { SEO_TRANCO: 'false' } });
});
afterAll(async () => {
  await stage?.close();
  await web?.close();
});
beforeEach(() => {
  web.dialled.length = 0;
  resolved = [];
  addresses = {};
  listener = (request, response) =>
    request.url === '/robots.txt'
      ? response.writeHead(404, ENDING).end()
      : response
          .writeHead(200, { ...ENDING, 'content-type': 'text/html' })
          .end('<title>A page</title><a href="https://shop.example/">shop</a>');
});

/** Every field that takes a URL which is then fetched, as a body around one URL. */
const FIELDS: readonly [string, string, (url: string) => object][] = [
  ['/seo/spam', 'url', (url) => ({ url })],
  ['/seo/link_pyramid', 'links.0', (url) => ({ links: [url] })],
  ['/seo/backlinks', 'candidates.0', (url) => ({ target: 'shop.example', limit: 1, candidates: [url] })],
  ['/seo/authority', 'url', (url) => ({ url, scope: 'page' })],
];
/** Of each kind one; kit/upstream/guarded-fetch has every spelling. */
const LITERALS = [
  'http://2130706433/',
  'http://LOCALHOST./',
  'http://a.example:6379/',
  'http://user:pass@a.example/',
  'file:///etc/passwd',
];

describe.each(FIELDS)('%s %s', (route, field, body) => {
  it.each(LITERALS)('refuses %s without looking anything up, live and test alike', async (url) => {
    for (const mode of ['live', 'test'] as const) {
      const reply = await stage.post(route, body(url), mode);
      expect([reply.statusCode, reply.json().errors]).toMatchObject([422, [{ field }]]);
      expect(reply.body).not.toContain('pass@');
    }
    expect([web.dialled, resolved]).toEqual([[], []]);
  });

  /** A refused page is a result, not a failure. */
  const reasonOf = (json: any): unknown => (json.data?.page ?? json.data?.backlinks?.[0] ?? json.data?.tiers?.caution[0])?.reason;

  it('never connects to a name that leads to a public and a private address', async () => {
    addresses = { 'inside.example': [PUBLIC, '192.168.0.1'] };
    const reply = await stage.post(route, body('https://inside.example/'), 'live');
    expect(reasonOf(reply.json())).toBe('address_refused');
    expect(web.dialled).toEqual([]);
  });

  it('connects to no other address when the name server changes its mind', async () => {
    let asked = 0;
    addresses = new Proxy({}, { get: () => (asked++ === 0 ? [PUBLIC] : ['127.0.0.1']) });
    listener = (_request, response) => response.writeHead(404, ENDING).end();
    const reply = await stage.post(route, body('http://rebind.example/'), 'live');
    expect(reasonOf(reply.json())).toBe('address_refused');
    expect(new Set(web.dialled)).toEqual(new Set([PUBLIC]));
  });

  it.each(['http://127.0.0.1/', 'http://hidden.example/'])('does not follow a redirect to %s', async (location) => {
    addresses = { 'hidden.example': ['127.0.0.1'] };
    listener = (request, response) =>
      request.url === '/robots.txt' ? response.writeHead(404, ENDING).end() : response.writeHead(302, { ...ENDING, location }).end();
    const reply = await stage.post(route, body('http://out.example/'), 'live');
    expect(reasonOf(reply.json())).toBe('address_refused');
    expect(new Set(web.dialled)).toEqual(new Set([PUBLIC]));
  });

  it('does not follow a redirect of robots.txt to loopback', async () => {
    listener = (_request, response) => response.writeHead(302, { ...ENDING, location: 'http://127.0.0.1/robots.txt' }).end();
    await stage.post(route, body('http://out.example/'), 'live');
    expect(new Set(web.dialled)).toEqual(new Set([PUBLIC]));
  });
});

it('a public page is fetched from the address that was judged, under our own name', async () => {
  const agents: unknown[] = [];
  const before = listener;
  listener = (request, response) => {
    agents.push(request.headers['user-agent']);
    before(request, response);
  };
  const body = { target: 'shop.example', limit: 1, candidates: ['http://out.example/page'] };
  const reply = await stage.post('/seo/backlinks', body, 'live');
  expect(reply.json().data.backlinks[0]).toMatchObject({ status: 'verified', found: true, follow: true });
  expect(new Set(web.dialled)).toEqual(new Set([PUBLIC]));
  expect(new Set(agents)).toEqual(new Set(['TollgateBot/1.0']));
});

it('a test key never touches the network', async () => {
  const body = { target: 'shop.example', limit: 2, candidates: ['https://real.example/links-to/shop.example', 'http://another.example/'] };
  const reply = await stage.post('/seo/backlinks', body, 'test');
  expect(reply.json().data.backlinks.map(({ status }: { status: string }) => status)).toEqual(['verified', 'lost']);
  expect([web.dialled, resolved]).toEqual([[], []]);
});
