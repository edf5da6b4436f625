import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { type Dial } from '../../../services/kit/upstream/pinned-connector';
import { HostUnresolved } from '../../../services/kit/upstream/resolve-host';
import { type SeoStage, startSeoStage } from './seo-stage';

/** The slowest page that is not too complex: every end tag looks through 510 open elements. */
const SLOW = '<div>'.repeat(510) + '</i>'.repeat(520_000);
/** Parsed for two minutes before there were limits. */
const DEEP = '<div>'.repeat(400_000);
const GOOD = '<title>Good</title><a href="https://shop.example/">shop</a>';

let server: Server;
let stage: SeoStage;
let onSlowPage: () => void = () => undefined;
const dial: Dial = (_target, callback) => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.once('connect', () => callback(null, socket)).once('error', (error) => callback(error, null));
};
const resolve = async (host: string) => {
  if (host.startsWith('tarpit')) throw new HostUnresolved(true, new Error('no answer'));
  return ['93.184.216.34'];
};

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    const host = request.headers.host ?? '';
    response.setHeader('content-type', 'text/html');
    if (host.startsWith('slow')) onSlowPage();
    response.end(host.startsWith('slow') ? SLOW : host.startsWith('deep') ? DEEP : GOOD);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  stage = await startSeoStage({ network: { dial, resolve }, env: { SEO_PARSE_THREADS: '1' } });
});
afterAll(async () => {
  await stage.close();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const backlinks = async (hosts: readonly string[]) => {
  const body = { target: 'shop.example', limit: hosts.length, candidates: hosts.map((host) => `http://${host}/`) };
  return (await stage.post('/seo/backlinks', body, 'live')).json();
};
const rowsOf = (json: any) => json.data.backlinks.map(({ status, reason }: any) => [status, reason]);

test('a page made to be slow says so, and the others of the call are read', async () => {
  expect(rowsOf(await backlinks(['deep.example', 'good.example']))).toEqual([
    ['unreachable', 'too_complex'],
    ['verified', null],
  ]);
});

test('another caller is answered while one has hostile pages read', async () => {
  const order: string[] = [];
  const hostile = Array.from({ length: 12 }, (_, index) => `slow${index}.example`);
  const begun = new Promise<void>((done) => (onSlowPage = done));
  const attack = backlinks(hostile).then((json) => {
    order.push('attacker');
    return json;
  });
  await begun;
  const mine = backlinks(['mine.example']).then((json) => {
    order.push('bystander');
    return json;
  });
  await stage.worker.checkHealth();
  expect(order).not.toContain('attacker');
  expect(rowsOf(await mine)).toEqual([['verified', null]]);
  await attack;
  expect(order).toEqual(['bystander', 'attacker']);
});

test('a host that could not be looked up is a time-out, never a thin success', async () => {
  const json = await backlinks(['tarpit.example', 'good.example']);
  expect(rowsOf(json)).toEqual([
    ['unreachable', 'timeout'],
    ['verified', null],
  ]);
  expect(json.data.backlinks[0]).toMatchObject({ found: null, follow: null });
  expect(json.sources).toEqual([expect.objectContaining({ name: 'page_fetch', ok: true, asked: 2, failed: 1 })]);
  const alone = await stage.post('/seo/spam', { url: 'http://tarpit.example/' }, 'live');
  expect([alone.statusCode, alone.json().code]).toEqual([504, 'pages_timeout']);
});
