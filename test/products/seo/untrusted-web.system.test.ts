import { type IncomingMessage, type ServerResponse } from 'node:http';
import { listenWeb } from '../../kit/listen-web';
import { type SeoStage, startSeoStage } from './seo-stage';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually';
import { openedForTests } from '../../support/opened';
import { compilePageThread } from '../../support/page-thread';
import { newFolder } from '../../support/run-folder';

describe('addresses', () => {
  const PUBLIC = '93.184.216.34';
  /** Every fetch dials anew, so that what is dialled can be counted. */
  const ENDING = { connection: 'close' };

  let listener: (request: IncomingMessage, response: ServerResponse) => unknown;
  /** Names that were looked up. */
  let resolved: string[];
  let addresses: Record<string, string[]>;

  const opened = openedForTests();
  const web = opened.use(() => listenWeb((request, response) => listener(request, response)));
  const stage = opened.use(() => {
    const network = {
      dial: web.dial,
      resolve: (host: string) => {
        resolved.push(host);
        return Promise.resolve(addresses[host] ?? [PUBLIC]);
      },
    };
    return startSeoStage({ network, liveOpenPageRank: true, env: { SEO_TRANCO: 'false' } });
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
    const body = {
      target: 'shop.example',
      limit: 2,
      candidates: ['https://real.example/links-to/shop.example', 'http://another.example/'],
    };
    const reply = await stage.post('/seo/backlinks', body, 'test');
    expect(reply.json().data.backlinks.map(({ status }: { status: string }) => status)).toEqual(['verified', 'lost']);
    expect([web.dialled, resolved]).toEqual([[], []]);
  });
});

describe('pages', () => {
  const GOOD = '<title>Good</title><a href="https://shop.example/">shop</a>';
  const MAX_READ_AT_ONCE = 1;

  const parts = openedForTests();
  let folder: string;
  let stage: SeoStage;

  /** Hosts whose pages a thread has taken, in order. */
  const taken = () => readFileSync(join(folder, 'taken'), 'utf8').trim().split('\n');
  const release = () => writeFileSync(join(folder, 'released'), '');

  /** Reads pages as the real thread does, but is busy with each until the test releases it: the slowest page that there can be. */
  async function heldThread(): Promise<string> {
    const file = join(folder, 'held-thread.cjs');
    const places = JSON.stringify({ real: await compilePageThread(), taken: join(folder, 'taken'), released: join(folder, 'released') });
    writeFileSync(
      file,
      `const { appendFileSync, existsSync } = require('node:fs');
     const places = ${places};
     const { readPageJob, judgeRobotsJob } = require(places.real);
     const pause = new Int32Array(new SharedArrayBuffer(4));
     exports.judgeRobotsJob = judgeRobotsJob;
     exports.readPageJob = (job) => {
       appendFileSync(places.taken, new URL(job.url).hostname + '\\n');
       while (!existsSync(places.released)) Atomics.wait(pause, 0, 0, 5);
       return readPageJob(job);
     };`,
    );
    return file;
  }

  beforeAll(async () => {
    folder = newFolder();
    const web = await parts.keep(
      listenWeb((request, response) => {
        if (request.url === '/robots.txt') return void response.writeHead(404).end();
        response.setHeader('content-type', 'text/html');
        response.end(GOOD);
      }),
      (each) => each.close(),
    );
    const network = { dial: web.dial, resolve: () => Promise.resolve(['93.184.216.34']) };
    const env = { SEO_PARSE_THREADS: String(MAX_READ_AT_ONCE) };
    stage = await parts.keep(startSeoStage({ network, env, pageThread: await heldThread() }));
  });

  async function backlinks(subscriptionId: string, hosts: readonly string[]): Promise<unknown[]> {
    const body = { target: 'shop.example', limit: hosts.length, candidates: hosts.map((host) => `http://${host}/`) };
    const answer = await stage.call({ method: 'POST', url: '/seo/backlinks', payload: body, context: { subscriptionId } });
    return answer.json().data.backlinks.map(({ status, reason }: any) => [status, reason]);
  }

  it('another caller is next while one has hostile pages read, and the worker answers meanwhile', async () => {
    const hostile = Array.from({ length: 12 }, (_, index) => `slow${index}.example`);
    const attack = backlinks('attacker', hostile);
    await eventually(async () => (await stage.pagesWaiting()) === hostile.length - MAX_READ_AT_ONCE);
    const mine = backlinks('bystander', ['mine.example']);
    await eventually(async () => (await stage.pagesWaiting()) === hostile.length - MAX_READ_AT_ONCE + 1);
    await stage.worker.checkHealth();
    release();
    expect(await mine).toEqual([['verified', null]]);
    await attack;
    expect(taken().indexOf('mine.example')).toBe(MAX_READ_AT_ONCE);
  });
});
