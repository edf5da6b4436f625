import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type IncomingMessage } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { createLog } from '../../../services/kit/log';
import { RankingLink, type RankingLinkOptions } from '../../../services/workers/ranking/websocket/ranking-link';
import { eventually } from '../../support/eventually';
import { type HeldTime, holdTime, passAnsweredHeartbeats } from '../../support/faults/held-time';

interface Asked {
  readonly id: string;
  readonly keyword: string;
}

type Behaviour = (asked: Asked, socket: WebSocket) => void;

interface Upstream {
  readonly url: string;
  readonly connections: IncomingMessage[];
  readonly asked: Asked[];
  readonly server: WebSocketServer;
}

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function upstreamThat(behave: Behaviour, options: { autoPong?: boolean; port?: number } = {}): Promise<Upstream> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: options.port ?? 0, autoPong: options.autoPong ?? true });
  await once(server, 'listening');
  const upstream: Upstream = { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`, connections: [], asked: [], server };
  server.on('connection', (socket, request) => {
    upstream.connections.push(request);
    socket.on('message', (data: Buffer) => {
      const asked = JSON.parse(data.toString());
      upstream.asked.push(asked);
      behave(asked, socket);
    });
  });
  closers.push(() => closeServer(server));
  return upstream;
}

function closeServer(server: WebSocketServer): Promise<void> {
  for (const client of server.clients) client.terminate();
  return new Promise((resolve) => server.close(() => resolve()));
}

function linkTo(url: string, options: Partial<RankingLinkOptions> = {}): RankingLink {
  const link = new RankingLink({ url, messageMs: 20_000, heartbeatMs: 60_000, log: createLog('test', { level: 'silent' }), ...options });
  closers.push(() => link.close());
  return link;
}

function hold(kind: Parameters<typeof holdTime>[0]): HeldTime {
  const time = holdTime(kind);
  closers.push(() => time.release());
  return time;
}

const never = (): AbortSignal => new AbortController().signal;
const ask = (link: RankingLink, keyword: string, signal = never()): Promise<string> => link.ask({ keyword }, signal);
const resultFor = ({ id, keyword }: Asked): string => JSON.stringify({ type: 'result', id, body: { ok: true, keyword } });
const echo: Behaviour = (asked, socket) => socket.send(resultFor(asked));
const bodyOf = (keyword: string): string => JSON.stringify({ ok: true, keyword });
const failsWith = (problem: string, reason?: string) =>
  expect.objectContaining({
    name: 'ServiceError',
    problem,
    ...(reason !== undefined && { options: expect.objectContaining({ members: { reason } }) }),
  });

describe('the ranking link', () => {
  test('asks many questions over one connection and tells the answers apart, in whatever order they come', async () => {
    const waiting: Asked[] = [];
    const upstream = await upstreamThat((asked, socket) => {
      waiting.push(asked);
      if (waiting.length === 20) for (const each of waiting.reverse()) socket.send(resultFor(each));
    });
    const link = linkTo(upstream.url, { token: 'secret' });
    const keywords = Array.from({ length: 20 }, (_, index) => `k${index}`);
    expect(await Promise.all(keywords.map((keyword) => ask(link, keyword)))).toEqual(keywords.map(bodyOf));
    expect(upstream.connections).toHaveLength(1);
    expect(upstream.connections[0]?.headers.authorization).toBe('Bearer secret');
    expect(new Set(waiting.map(({ id }) => id)).size).toBe(20);
  });

  test('is not confused by answers to nobody, repeated answers and messages it does not know', async () => {
    const upstream = await upstreamThat((asked, socket) => {
      for (const text of ['not JSON', '{"type":"welcome"}', '{"type":"result","id":"nobody","body":{"ok":true}}', '{"type":"error","id":"nobody"}'])
        socket.send(text); // prettier-ignore
      socket.send(resultFor(asked));
      socket.send(resultFor(asked));
    });
    const link = linkTo(upstream.url);
    expect(await ask(link, 'a')).toBe(bodyOf('a'));
    expect(await ask(link, 'b')).toBe(bodyOf('b'));
  });

  test('opens a new connection after a loss, and asks the lost question again', async () => {
    let lost = 0;
    const upstream = await upstreamThat((asked, socket) =>
      asked.keyword === 'a' && lost++ === 0 ? socket.terminate() : echo(asked, socket),
    );
    const link = linkTo(upstream.url);
    expect(await Promise.all([ask(link, 'b'), ask(link, 'a')])).toEqual([bodyOf('b'), bodyOf('a')]);
    expect(upstream.connections).toHaveLength(2);
  });

  test('gives up on a question that loses two connections', async () => {
    const upstream = await upstreamThat((_asked, socket) => socket.terminate());
    await expect(ask(linkTo(upstream.url), 'a')).rejects.toEqual(failsWith('upstream_failed', 'unreachable'));
    expect(upstream.asked).toHaveLength(2);
  });

  test('fails while nobody listens, and works as soon as somebody does', async () => {
    const first = await upstreamThat(echo);
    const link = linkTo(first.url);
    await ask(link, 'a');
    const { port } = first.server.address() as AddressInfo;
    await closeServer(first.server);
    await expect(ask(link, 'b')).rejects.toEqual(failsWith('upstream_failed', 'unreachable'));
    await upstreamThat(echo, { port });
    expect(await ask(link, 'c')).toBe(bodyOf('c'));
  });

  test('leaves a peer that answers no ping for another connection', async () => {
    const upstream = await upstreamThat(() => undefined, { autoPong: false });
    const link = linkTo(upstream.url, { heartbeatMs: 50 });
    await expect(ask(link, 'a')).rejects.toEqual(failsWith('upstream_failed', 'unreachable'));
    expect(upstream.connections).toHaveLength(2);
  });

  test('stays with a peer that is slow but alive', async () => {
    const time = hold('heartbeats');
    let answer: () => void = () => undefined;
    const upstream = await upstreamThat((asked, socket) => (answer = () => echo(asked, socket)));
    const slow = ask(linkTo(upstream.url, { heartbeatMs: 1_000 }), 'a');
    await eventually(() => upstream.asked.length === 1);
    const [peer] = upstream.server.clients;
    await passAnsweredHeartbeats(time, { peer, count: 5, everyMs: 1_000 });
    answer();
    expect(await slow).toBe(bodyOf('a'));
    expect(upstream.connections).toHaveLength(1);
  });

  test('bounds each question by its own deadline and lets the others live', async () => {
    const time = hold('timeouts');
    const upstream = await upstreamThat((asked, socket) => (asked.keyword === 'silence' ? undefined : echo(asked, socket)));
    const link = linkTo(upstream.url, { messageMs: 300 });
    const silent = expect(ask(link, 'silence')).rejects.toEqual(failsWith('upstream_timeout'));
    expect(await ask(link, 'a')).toBe(bodyOf('a'));
    time.pass(300);
    await silent;
    expect(await ask(link, 'b')).toBe(bodyOf('b'));
    expect(upstream.connections).toHaveLength(1);
  });

  test('times out on a peer that never ends the handshake', async () => {
    const sockets: Socket[] = [];
    const server: Server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const link = linkTo(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`, { messageMs: 200 });
    await expect(ask(link, 'a')).rejects.toEqual(failsWith('upstream_timeout'));
  });

  test('ends at once for a caller who leaves', async () => {
    const upstream = await upstreamThat(() => undefined);
    const leave = new AbortController();
    const answer = ask(linkTo(upstream.url), 'a', leave.signal);
    leave.abort(new Error('gone'));
    await expect(answer).rejects.toMatchObject({ name: 'ServiceError' });
  });

  test.each([
    ['an error for the question', ({ id }: Asked) => ({ type: 'error', id, message: 'key sk-1 is not valid' }), 'upstream_error'],
    ['an error for everybody', () => ({ type: 'error', message: 'shutting down' }), 'upstream_error'],
    ['a body without an ok flag', ({ id }: Asked) => ({ type: 'result', id, body: { results: [] } }), 'bad_response'],
  ])('fails with %s, without repeating its words', async (_what, answer, reason) => {
    const upstream = await upstreamThat((asked, socket) => socket.send(JSON.stringify(answer(asked))));
    const failure: unknown = await ask(linkTo(upstream.url), 'a').catch((error: unknown) => error);
    expect(failure).toEqual(failsWith('upstream_failed', reason));
    expect(JSON.stringify(failure)).not.toMatch(/sk-1|shutting/);
    expect(upstream.asked).toHaveLength(1);
  });

  test('passes a refusal of the upstream workflow through: ok is false, and that is an answer', async () => {
    const upstream = await upstreamThat(({ id }, socket) => socket.send(`{"type":"result","id":"${id}","body":{"ok":false,"why":1.0}}`));
    expect(await ask(linkTo(upstream.url), 'a')).toBe('{"ok":false,"why":1.0}');
  });

  test('asks nothing more once it is closed', async () => {
    const upstream = await upstreamThat(() => undefined);
    const link = linkTo(upstream.url);
    const open = ask(link, 'a').catch((error: unknown) => error);
    await eventually(() => upstream.asked.length > 0);
    link.close();
    expect(await open).toEqual(failsWith('upstream_failed', 'unreachable'));
    await expect(ask(link, 'b')).rejects.toEqual(failsWith('upstream_failed', 'unreachable'));
    expect(upstream.asked).toHaveLength(1);
  });
});
