import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Readable } from 'node:stream';
import { build } from 'esbuild';
import { WebSocketServer } from 'ws';
import { grankService } from '../../../services/grank/routes';
import { rankingWorkerSettings } from '../../../services/workers/ranking/settings';
import { contextFor, proofHeader } from '../../services/kit/harness';
import { serviceWith, startTestWorker } from './setup';

const ROOT = join(__dirname, '../../..');

describe('the settings', () => {
  const problemsOf = (env: Record<string, string>) =>
    rankingWorkerSettings.safeParse(env).error?.issues.map(({ path }) => path.join('.')) ?? [];
  const socket = { RANKING_WEBSOCKET_URL: 'wss://rank.example/link' };
  const places = { RANKING_GOOGLE_PLACES_KEY: 'k' };

  test.each([
    [{}, []],
    [socket, []],
    [places, []],
    [{ ...socket, ...places, RANKING_SOURCE: 'google_places' }, []],
    [{ ...socket, ...places }, ['RANKING_SOURCE']],
    [{ ...places, RANKING_SOURCE: 'ranking_websocket' }, ['RANKING_WEBSOCKET_URL']],
    [{ ...socket, RANKING_SOURCE: 'google_places' }, ['RANKING_GOOGLE_PLACES_KEY']],
    [{ RANKING_WEBSOCKET_URL: 'https://rank.example' }, ['RANKING_WEBSOCKET_URL']],
    [{ RANKING_GOOGLE_PLACES_KEY: 'two words' }, ['RANKING_GOOGLE_PLACES_KEY']],
  ])('%j have problems with %j', (env, problems) => expect(problemsOf(env)).toEqual(problems));
});

const POINT = { latitude: 12.97, longitude: 77.59 };

describe('a live call', () => {
  test('goes to the configured WebSocket, and its bytes come back unchanged', async () => {
    const body = '{ "ok" : true, "cid": 12345678901234567890, "score": 1.0 }';
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    server.on('connection', (socket) =>
      socket.on('message', (data: Buffer) =>
        socket.send(`{"type":"result","id":${JSON.stringify(JSON.parse(data.toString()).id)},"body":${body}}`),
      ),
    );
    await once(server, 'listening');
    const worker = await startTestWorker({ RANKING_WEBSOCKET_URL: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/rank` });
    const grank = await serviceWith(grankService, worker.address);
    const payload = { keyword: 'dentist', ...POINT, business_name: 'Acme' };
    for (const route of ['search', 'position']) {
      const response = await grank.call({ method: 'POST', url: `/grank/${route}`, payload, context: { mode: 'live' } });
      expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      expect(response.body).toBe(body);
      expect(response.headers['x-tollgate-mode']).toBeUndefined();
    }
    const health = await grank.call({ method: 'GET', url: '/grank/health', context: { mode: 'live' } });
    expect(health.json()).toEqual({
      ok: true,
      status: 'success',
      data: { worker: 'serving', workers: 1, source: 'ranking_websocket' },
      timestamp: '2026-03-14 09:26:53',
    });
    await grank.app.close();
    await worker.close(100);
    await new Promise((resolve) => server.close(resolve));
  });

  test('that its client gives up is given up at the upstream too', async () => {
    let arrived = (): void => undefined;
    const reached = new Promise<void>((resolve) => (arrived = resolve));
    let left: Promise<unknown> | undefined;
    const google = createServer((_request, response) => {
      left = once(response, 'close');
      arrived();
    }).listen(0, '127.0.0.1');
    await once(google, 'listening');
    const url = `http://127.0.0.1:${(google.address() as AddressInfo).port}`;
    const worker = await startTestWorker({
      RANKING_GOOGLE_PLACES_URL: url,
      RANKING_GOOGLE_PLACES_KEY: 'k',
      RANKING_TIMEOUT_MS: '20000',
    });
    const grank = await serviceWith(grankService, worker.address);
    const leave = new AbortController();
    const base = await grank.app.listen({ host: '127.0.0.1', port: 0 });
    const headers = proofHeader(contextFor('api-grank', { mode: 'live' }));
    const query = new URLSearchParams({ keyword: 'dentist', latitude: '1', longitude: '2' }).toString();
    const answer = fetch(`${base}/grank/search?${query}`, { headers, signal: leave.signal }).catch(() => 'left');
    await reached;
    leave.abort();
    expect(await answer).toBe('left');
    await left;
    await grank.app.close();
    await worker.close(100);
    google.closeAllConnections();
    google.close();
  });
});

describe('the worker process', () => {
  let folder: string;
  let entry: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ranking-worker-'));
    entry = join(folder, 'services/workers/ranking/main.js');
    await build({
      entryPoints: [join(ROOT, 'services/workers/ranking/main.ts')],
      outfile: entry,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'cjs',
      logLevel: 'error',
    });
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await cp(join(ROOT, 'protos'), join(folder, 'protos'), { recursive: true });
  });
  afterAll(() => rm(folder, { recursive: true }));

  const children: ChildProcessByStdio<null, Readable, Readable>[] = [];
  afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));
  const start = (env: Record<string, string>): ChildProcessByStdio<null, Readable, Readable> => {
    const child = spawn(process.execPath, [entry], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    return child;
  };

  test('says on one line where it listens, serves, and ends on SIGTERM', async () => {
    const child = start({ WORKER_PORT: '0' });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const ready = JSON.parse(line);
    expect(ready).toEqual({ ready: true, port: expect.any(Number) });
    const grank = await serviceWith(grankService, `127.0.0.1:${ready.port}`);
    const response = await grank.call({ method: 'GET', url: '/grank/health', context: { mode: 'live' } });
    expect(response.json()).toMatchObject({ code: 'upstream_not_configured' });
    await grank.app.close();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('does not start with settings that contradict each other, and never shows their values', async () => {
    const child = start({ RANKING_SOURCE: 'google_places', RANKING_GOOGLE_PLACES_KEY: 'secret key', RANKING_TIMEOUT_MS: 'soon' });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(said).toContain('RANKING_GOOGLE_PLACES_KEY: must be one word of ASCII');
    expect(said).toContain('RANKING_TIMEOUT_MS: must be a whole number');
    expect(said).not.toContain('secret');
  });
});
