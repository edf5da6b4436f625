import { once } from 'node:events';
import { type IncomingMessage } from 'node:http';
import { createServer, type Server as SocketServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { frame, NO_QUESTION, readFrame, SAID } from '../../../plugins/entrances/lane/frames';
import { LaneServer } from '../../../plugins/entrances/lane/lane-server';
import { FrameDecoder } from '../../../plugins/server/wire/frames';
import { key, recordOf } from '../../access-layer/call-plugin';
import { memoryQuota } from '../../access-layer/fake-kong';
import { stagePlugin } from '../../gateways/support/entrance-stage';
import { type AnyRunningGateway, LANE, startAnyGateway } from '../../gateways/support/every-gateway';
import { sendRaw, statusesOf } from '../../support/gateway/raw-http';
import { eventually } from '../../support/eventually';
import { type Reply, send, serve as serveHttp, type TestServer } from '../../support/http';
import { firstOf } from '../../support/scenes';
import { SERVICE_NAMES } from '../../../services/products/registry';
import { newFolder } from '../../support/run-folder';

let folder: string;
let api: TestServer;
let gateway: AnyRunningGateway;
let lane: LaneServer | undefined;
let impostor: SocketServer | undefined;
const pretended: Socket[] = [];
const heard: string[] = [];
const seen: { request: IncomingMessage; body: string }[] = [];

/** What the API says that its answers cost. */
const PRICES: Readonly<Record<string, string>> = { '/ip/priced': '17', '/ip/endless': '9'.repeat(2_000) };

const socketPath = (): string => join(folder, 'lane.sock');

async function serve(changes: Parameters<typeof recordOf>[0] = {}): Promise<LaneServer> {
  const subscriptions = recordOf().subscriptions.map((each) => ({ ...each, limits: { daily: 1_000, monthly: 1_000 } }));
  const { plugin, log } = stagePlugin(recordOf({ subscriptions, ...changes }), { quota: memoryQuota() });
  const server = new LaneServer({ plugin, path: socketPath(), log, hear: (lines) => heard.push(...lines.split('\n').filter(Boolean)) });
  await server.listen();
  return server;
}

/** Answers the question with this number, of the request with this id. */
type Impostor = (socket: Socket, requestId: string, question: number) => void;

/** Stands in for the plugin server. */
async function pretend(answer: Impostor): Promise<void> {
  impostor = createServer((socket) => {
    pretended.push(socket);
    socket.on('error', () => undefined);
    const decoder = new FrameDecoder((bytes, start, end) => {
      const { kind, question, text } = readFrame(bytes, start, end);
      // Beside a question there may be lines about earlier requests. A question ends with the request's id.
      if (kind === SAID.question || kind === SAID.whole) answer(socket, text.slice(-32), question);
    });
    socket.on('data', (chunk: Buffer) => decoder.push(chunk));
  }).listen(socketPath());
  await once(impostor, 'listening');
}

const ask = (path = '/ip', headers: Record<string, string> = { 'X-API-Key': key }): Promise<Reply> => send(gateway.url + path, { headers });

const ADMITTED = '=X-Tollgate-Context:proof\n';

describe.each(LANE)('the lane in %s', (kind) => {
  beforeAll(async () => {
    folder = newFolder();
    api = await serveHttp((request, response) => {
      let body = '';
      request.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        seen.push({ request, body });
        if (request.url === '/ip/cut') request.socket.destroy();
        else {
          const units = PRICES[request.url ?? ''];
          if (units !== undefined) response.setHeader('X-Units', units);
          response.end('served');
        }
      });
    });
    const services = Object.fromEntries(SERVICE_NAMES.map((name) => [name, api.url]));
    gateway = await startAnyGateway({ kind, dataDir: folder, services });
  });

  afterAll(async () => {
    await gateway?.stop();
    await api?.close();
  });

  beforeEach(() => void (seen.length = heard.length = 0));
  afterEach(async () => {
    await lane?.close({ graceMs: 0 });
    lane = undefined;
    impostor?.close();
    impostor = undefined;
    pretended.splice(0).forEach((socket) => socket.destroy());
  });

  it('tells what admitted requests and those without a verdict were answered with, by the next question or soon after, and later where nobody hears it', async () => {
    lane = await serve();
    expect([(await ask()).status, (await ask('/ip', {})).status]).toEqual([200, 401]);
    await eventually(() => heard.length > 0);
    expect((await ask('/ip/cut')).status).toBe(502);
    await lane.close({ graceMs: 0 });
    lane = undefined;
    expect((await ask()).status).toBe(503);
    lane = await serve();
    await ask('/ip', {});
    await eventually(() => heard.some((line) => / 502 \d+\.\d{3} \d+ -(, -)*$/.test(line)));
    expect(heard[0]).toMatch(/^[0-9a-f]{32} 200 \d+\.\d{3} 6 \d+\.\d{3}$/);
    // Nobody gave a verdict on the request that was answered with 503.
    expect(heard.filter((line) => / (401|503) /.test(line))).toEqual([expect.stringMatching(/ 503 \d+\.\d{3} \d+ -$/)]);
    const priced = await ask('/ip/priced');
    expect([priced.status, priced.headers['x-units']]).toEqual([200, undefined]);
    await eventually(() => heard.some((line) => / 200 \d+\.\d{3} 6 \d+\.\d{3} units=17$/.test(line)));
    const before = heard.length;
    expect((await ask('/ip/endless')).status).toBe(200);
    await eventually(() => heard.length > before);
    expect(heard.at(-1)).toMatch(/^[0-9a-f]{32} 200 \d+\.\d{3} 6 \d+\.\d{3}$/);
  });

  it('reads a form to its last byte and no further, in pieces and where its sender waits to be asked', async () => {
    lane = await serve();
    const form = `a=${'x'.repeat(200_000)}&api_key=${key}`;
    const head = `POST /ip HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n`;
    const next = 'GET /ip HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    expect(statusesOf(await sendRaw(gateway.url, `${head}\r\n${form}${next}`))).toEqual([200, 401]);
    const small = `POST /ip HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=1`;
    expect(statusesOf(await sendRaw(gateway.url, small + next))).toEqual([401, 401]);
    expect(statusesOf(await sendRaw(gateway.url, `${head}Expect: 100-continue\r\n\r\n${form}${next}`))).toEqual([100, 200, 401]);
    expect(seen.map(({ body }) => body)).toEqual([form, form].map((each) => each.slice(0, each.indexOf('&'))));
  });

  it('asks another server when the one that it knows leaves, and nothing is charged twice or lost', async () => {
    lane = await serve();
    expect((await ask()).status).toBe(200);
    for (let turn = 0; turn < 5; turn++) {
      const old = lane;
      await old.close({ graceMs: 1_000 });
      lane = await serve();
      expect((await ask()).status).toBe(200);
    }
    expect(seen).toHaveLength(6);
  });

  it('sends a request to its sandbox and nowhere else, or to nobody where a location names the one service', async () => {
    const [subscription] = recordOf().subscriptions;
    if (!subscription) throw new Error('no subscription');
    lane = await serve({ mode: 'test', subscriptions: [{ ...subscription, sandbox: { host: '127.0.0.1', port: 1 } }] });
    // Nobody listens on port 1.
    expect([(await ask()).status, seen]).toEqual([kind === 'nginx-lua' ? 503 : 502, []]);
  });

  it('admits by an admission alone: what follows is one with a part changed', async () => {
    await pretend((socket, id) => void socket.write(frame('a', 1, ADMITTED + id), 'latin1'));
    expect((await ask()).status).toBe(200);
  });

  it('asks for a crowd on a few connections, and each request hears its own answer', async () => {
    const crowd = 24;
    const held: (() => void)[] = [];
    await pretend((socket, id, question) => {
      // Refusals, whose body says to whom.
      held.push(() => void socket.write(frame('r', question, `401\n\n{"request_id":"${id}"}\n${id}`), 'latin1'));
      if (held.length === crowd) held.reverse().forEach((answer) => answer());
    });
    for (const answer of await Promise.all(Array.from({ length: crowd }, () => ask())))
      expect([answer.status, answer.json().request_id]).toEqual([401, answer.headers['x-kong-request-id']]);
    expect(pretended.length).toBeGreaterThan(1);
    expect(pretended.length).toBeLessThanOrEqual(crowd / 3);
  });

  /** To each of them the gateway waits its 6 s for the rest. */
  const waited: readonly (readonly [string, Impostor])[] = [
    ['half a frame, and silence', (socket, id) => void socket.write(frame('a', 1, ADMITTED + id).slice(0, -3), 'latin1')],
    ['an empty frame', (socket) => void socket.write('\0\0\0\0', 'latin1')],
    ['that it heard what nobody told', (socket) => void socket.write(frame('t', NO_QUESTION), 'latin1')],
  ];

  it.each<readonly [string, Impostor]>([
    ...firstOf(waited),
    ['the end of the connection', (socket) => socket.end()],
    ['a broken connection', (socket) => socket.destroy()],
    ['half a length', (socket) => socket.end('\x10\0', 'latin1')],
    ['half a frame', (socket, id) => socket.end(frame('a', 1, ADMITTED + id).slice(0, -3), 'latin1')],
    ['another version', (socket, id) => void socket.write(frame('a', 1, ADMITTED + id).replace('2a', '1a'), 'latin1')],
    ['a kind that is unknown', (socket, id) => void socket.write(frame('y', 1, ADMITTED + id), 'latin1')],
    ['a length beyond all', (socket) => void socket.write('\xff\xff\xff\xff2a\x01\0\0\0', 'latin1')],
    ['an admission without the proof', (socket, id) => void socket.write(frame('a', 1, `-x-api-key\n${id}`), 'latin1')],
    ['an admission with an empty proof', (socket, id) => void socket.write(frame('a', 1, `=X-Tollgate-Context:\n${id}`), 'latin1')],
    ['an admission of nothing', (socket) => void socket.write(frame('a', 1), 'latin1')],
    ['an admission of no request', (socket) => void socket.write(frame('a', 1, ADMITTED), 'latin1')],
    ['an admission of another request', (socket, id) => void socket.write(frame('a', 1, ADMITTED + id.replace(/./, '-')), 'latin1')],
    ['an admission to another question', (socket, id) => void socket.write(frame('a', 2, ADMITTED + id), 'latin1')],
    ['an admission to no question', (socket, id) => void socket.write(frame('a', NO_QUESTION, ADMITTED + id), 'latin1')],
    ['a change that is unknown', (socket, id) => void socket.write(frame('a', 1, `*a\n${ADMITTED}${id}`), 'latin1')],
    ['a refusal without a status', (socket, id) => void socket.write(frame('r', 1, `\n\n{}\n${id}`), 'latin1')],
    ['a refusal that is cut', (socket, id) => void socket.write(frame('r', 1, `401\n${id}`), 'latin1')],
    ['a refusal of another request', (socket) => void socket.write(frame('r', 1, '401\n\n{}\nid'), 'latin1')],
    ['a head asked for twice', (socket) => void socket.write(frame('h', 1) + frame('h', 1), 'latin1')],
    ['HTTP', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 'latin1')],
    ['not read, again and again', (socket) => void socket.write(frame('x', 1), 'latin1')],
    ['leaving, again and again', (socket) => socket.end(frame('x', NO_QUESTION), 'latin1')],
  ])('refuses with 503 when the answer is %s', async (_, answer) => {
    await pretend(answer);
    const refused = await ask();
    expect([refused.status, refused.json().code, refused.headers['retry-after'], seen]).toEqual([503, 'access_layer_unavailable', '1', []]);
    expect(refused.json().request_id).toBe(refused.headers['x-kong-request-id']);
  });

  it('refuses with 503 when there is no socket', async () => {
    expect([(await ask()).status, seen]).toEqual([503, []]);
    expect(gateway.logs()).not.toMatch(/tg_live_/);
  });
});
