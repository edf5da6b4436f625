import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { type Dial } from '../../../services/kit/upstream/pinned-connector';
import { type SeoStage, startSeoStage } from './seo-stage';

/** The slowest page that is not too complex: every end tag looks through 510 open elements. */
const SLOW = '<div>'.repeat(510) + '</i>'.repeat(520_000);
const GOOD = '<title>Good</title><a href="https://shop.example/">shop</a>';

let server: Server;
let stage: SeoStage;
let onSlowPage: () => void = () => undefined;
const dial: Dial = (_target, callback) => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.once('connect', () => callback(null, socket)).once('error', (error) => callback(error, null));
};
const resolve = () => Promise.resolve(['93.184.216.34']);

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    const host = request.headers.host ?? '';
    response.setHeader('content-type', 'text/html');
    if (host.startsWith('slow')) onSlowPage();
    response.end(host.startsWith('slow') ? SLOW : GOOD);
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
