import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { WebSocket } from 'ws';
import { defineRoute, defineService, type CallContext } from '../../../services/kit/service/define-service';
import { createMetrics } from '../../../services/kit/metrics';
import { streamReply } from '../../../services/kit/service/reply';
import { createServiceApp } from '../../../services/kit/service/service-app';
import { type Refund } from '../../../services/kit/service/refund';
import { ServiceError } from '../../../services/kit/errors';
import { eventually } from '../../support/eventually';
import { PROOF, contextFor, proofHeader } from '../context';
import { testClock } from '../test-clock';
import { CATALOGUE } from '../../support/catalogue';

interface Deps {
  act(context: CallContext): unknown;
}

const service = defineService<Deps>({
  name: 'live',
  products: ['api-gst'],
  createDeps: () => ({ act: () => ({}) }),
  routes: [
    defineRoute({
      method: 'ANY',
      path: '/gst/start',
      body: { kind: 'ignored' },
      handler: (_input, context: CallContext, deps: Deps) => deps.act(context),
      webSocket: (socket, context) => {
        socket.on('message', (data: Buffer) => socket.send(`${context.proof.customerId} ${data.toString()}`));
      },
    }),
  ],
});

const headers = proofHeader(contextFor('api-gst'));
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function listening(act: Deps['act'], refund?: Refund) {
  const metrics = createMetrics();
  const app = createServiceApp(service, {
    contextKeys: PROOF.contextKeys,
    clock: testClock,
    catalogue: CATALOGUE,
    deps: { act },
    metrics,
    refund,
  });
  closers.push(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { app, port, url: `http://127.0.0.1:${port}/gst/start`, metrics };
}

it('a client that leaves cancels the handler, is counted as 499 and gets no unit back', async () => {
  const refund = jest.fn(() => Promise.resolve('refunded' as const));
  const leaving = new AbortController();
  let told: (reason: unknown) => void = () => undefined;
  const cancelled = new Promise((resolve) => (told = resolve));
  const { url, metrics } = await listening((context) => {
    leaving.abort();
    return new Promise((_resolve, reject) =>
      context.signal.addEventListener('abort', () => {
        told(context.signal.reason);
        reject(new ServiceError('upstream_failed'));
      }),
    );
  }, refund);
  await expect(fetch(url, { headers, signal: leaving.signal })).rejects.toThrow();
  expect(await cancelled).toMatchObject({ name: 'ClientGone' });
  await eventually(async () => (await metrics.registry.metrics()).includes('status="499"'));
  expect(refund).not.toHaveBeenCalled();
});

it('a client that leaves in the middle of a stream ends its source', async () => {
  const leaving = new AbortController();
  const endless = new Readable({ read() { this.push(Buffer.alloc(65_536)); } }); // prettier-ignore
  const { url } = await listening(() => streamReply(endless, 'video/mp4'));
  const response = await fetch(url, { headers, signal: leaving.signal });
  await response.body?.getReader().read();
  const closed = once(endless, 'close');
  leaving.abort();
  await closed;
  expect(endless.destroyed).toBe(true);
});

it('a source that breaks before its first byte is answered, one that breaks later cuts the connection', async () => {
  const early = await listening(() => streamReply(new Readable({ read() { this.destroy(new ServiceError('upstream_failed')); } }), 'video/mp4')); // prettier-ignore
  expect((await fetch(early.url, { headers })).status).toBe(502);
  let reads = 0;
  const late = await listening(() => streamReply(new Readable({ read() { if (reads++ === 0) this.push('x'); else setTimeout(() => this.destroy(new Error('broke')), 20); } }), 'video/mp4')); // prettier-ignore
  const response = await fetch(late.url, { headers });
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
});

it('text that is not HTTP is answered with a problem', async () => {
  const { port } = await listening(() => ({}));
  const socket = connect(port, '127.0.0.1');
  socket.write('NONSENSE\r\n\r\n');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  expect(text).toMatch(/^HTTP\/1\.1 400 .*application\/problem\+json.*"code":"invalid_request"/s);
});

it('closing lets a running request finish and does not wait for a silent connection', async () => {
  let entered: () => void = () => undefined;
  const inside = new Promise<void>((resolve) => (entered = resolve));
  let release: (value: unknown) => void = () => undefined;
  const { app, port, url } = await listening(() => {
    entered();
    return new Promise((resolve) => (release = resolve));
  });
  const silent = connect(port, '127.0.0.1');
  await once(silent, 'connect');
  const answer = fetch(url, { headers });
  await inside;
  const closed = app.close();
  release({ done: true });
  expect(await (await answer).json()).toEqual({ done: true });
  await closed;
  silent.destroy();
});

describe('WebSockets', () => {
  it('are opened with a proof and know their caller', async () => {
    const { port } = await listening(() => ({}));
    const socket = new WebSocket(`ws://127.0.0.1:${port}/gst/start`, { headers });
    await once(socket, 'open');
    const answer = once(socket, 'message');
    socket.send('hello');
    expect(String((await answer)[0])).toBe('customer-1 hello');
    const closed = once(socket, 'close');
    await closers.pop()?.();
    expect((await closed)[0]).toBe(1001);
  });

  it.each([
    ['/gst/start', {}, 401],
    ['/gst/start', proofHeader(contextFor('api-ip')), 401],
    ['/gst/other', headers, 404],
  ])('are refused at %s', async (path, sent, status) => {
    const { port } = await listening(() => ({}));
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: sent });
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain(String(status));
  });
});
