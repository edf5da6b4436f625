import { once } from 'node:events';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { eventually } from '../../support/eventually';
import { holdTime } from '../../support/faults/held-time';
import { expectMeasured } from '../../support/measured';
import { contextFor, proofHeader } from '../../kit/context';
import { gdplayDeps, type Listening, listenGdplay } from './gdplay-harness';
import { listenWeb } from '../../kit/listen-web';

const LIVE_HEADERS = proofHeader(contextFor('api-gdplay'));
const ID = 'live-file-0001';
const SIZE = 1_000_000_000;
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** An upstream with one file of a gigabyte, whose media requests go to `sendMedia`. */
async function withMedia(
  sendMedia: (response: ServerResponse, request: IncomingMessage) => unknown,
  env: Record<string, string> = {},
): Promise<{ service: Listening; url: string }> {
  const upstream = await listenWeb((request, response, url) => {
    if (url.searchParams.get('alt') === 'media') return void sendMedia(response, request);
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ id: ID, name: 'a.mp4', mimeType: 'video/mp4', size: String(SIZE) }));
  });
  const service = await listenGdplay(gdplayDeps({ GDPLAY_API_URL: upstream.url, GDPLAY_API_KEY: 'live-api-key-1', ...env }));
  closers.push(
    () => upstream.close(),
    () => service.close(),
  );
  return { service, url: `${service.url}/gdplay/stream?id=${ID}` };
}

/** Sends for ever, as fast as it is read. */
function endless(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': String(SIZE) });
  response.on('drain', more);
  more();
}

it('a client that leaves ends the exchange with Drive within a second', async () => {
  let gone = 0;
  const { url } = await withMedia((response) => {
    response.once('close', () => (gone = performance.now()));
    endless(response);
  });
  const request = get(url, { headers: LIVE_HEADERS });
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await once(response, 'data');
  const left = performance.now();
  request.destroy();
  await eventually(() => gone > 0);
  expectMeasured(gone - left, 1_000);
});

it('a client that leaves before the first byte ends the exchange with Drive', async () => {
  let gone = false;
  let asked = false;
  const { url } = await withMedia((response) => {
    asked = true;
    response.once('close', () => (gone = true));
  });
  const request = get(url, { headers: LIVE_HEADERS });
  request.on('error', () => undefined);
  await eventually(() => asked);
  request.destroy();
  await eventually(() => gone);
});

it('a client that does not read holds Drive up, and is cut off when nothing moves for too long', async () => {
  let sent = 0;
  let gone = false;
  const { url } = await withMedia(
    (response) => {
      const { socket } = response;
      response.once('close', () => {
        sent = socket?.bytesWritten ?? 0;
        gone = true;
      });
      endless(response);
    },
    { GDPLAY_IDLE_TIMEOUT_MS: '500' },
  );
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\nx-tollgate-context: ${LIVE_HEADERS['x-tollgate-context']}\r\n\r\n`);
  await eventually(() => gone);
  // What fits into the buffers of two connections, far from the gigabyte that was asked for.
  expect(sent).toBeGreaterThan(65_536);
  expect(sent).toBeLessThan(50_000_000);
  socket.destroy();
});

it('a Drive that stops in the middle is given up, and the client sees a broken answer', async () => {
  const time = holdTime('timeouts');
  closers.push(() => Promise.resolve(time.release()));
  const { url } = await withMedia(
    (response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': String(SIZE) });
      response.write(Buffer.alloc(1_000));
    },
    { GDPLAY_TIMEOUT_MS: '300' },
  );
  const response = await fetch(url, { headers: LIVE_HEADERS });
  expect(response.status).toBe(200);
  const body = expect(response.arrayBuffer()).rejects.toThrow();
  time.pass(300);
  await body;
});

it('a Drive that sends less than announced breaks the answer instead of ending it', async () => {
  let end: () => void = () => undefined;
  const { url } = await withMedia((response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' });
    response.write(Buffer.alloc(1_000));
    end = () => response.end();
  });
  const response = await fetch(url, { headers: LIVE_HEADERS });
  expect(response.status).toBe(200);
  end();
  await expect(response.arrayBuffer()).rejects.toThrow();
});

it.each<[string, number, (response: ServerResponse) => unknown]>([
  ['announces bytes and sends none', 504, (response) => response.writeHead(200, { 'content-length': String(SIZE) }).flushHeaders()],
  ['sends another part than asked', 502, (response) => response.writeHead(206, { 'content-range': `bytes 0-4/${SIZE}` }).end('01234')],
  ['sends a file of another size', 502, (response) => response.writeHead(200, { 'content-length': '3' }).end('abc')],
])('a Drive that %s is answered with %i', async (_what, status, sendMedia) => {
  const { url } = await withMedia(sendMedia, status === 504 ? { GDPLAY_TIMEOUT_MS: '300' } : {});
  const response = await fetch(url, { headers: { ...LIVE_HEADERS, range: 'bytes=5-9' } });
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(response.headers.get('content-range')).toBeNull();
});

it('a Drive that ignores ranges is answered with the whole', async () => {
  const { url } = await withMedia(endless);
  const leaving = new AbortController();
  const response = await fetch(url, { headers: { ...LIVE_HEADERS, range: 'bytes=5-9' }, signal: leaving.signal });
  expect([response.status, response.headers.get('content-length')]).toEqual([200, String(SIZE)]);
  expect(response.headers.get('content-range')).toBeNull();
  leaving.abort();
});

it('Drive is shown the range and nothing else of the request', async () => {
  const seen: IncomingMessage[] = [];
  const { url } = await withMedia((response, request) => {
    seen.push(request);
    response.writeHead(206, { 'content-range': `bytes 5-9/${SIZE}` }).end('56789');
  });
  const sent = { cookie: 'a=b', referer: 'https://x.example', 'x-forwarded-for': '1.2.3.4', 'user-agent': 'curl', 'x-own': '1' };
  await fetch(url, { headers: { ...LIVE_HEADERS, ...sent, 'if-range': '"none"', range: 'Bytes=5-9' } });
  const response = await fetch(url, { headers: { ...LIVE_HEADERS, ...sent, range: 'Bytes= 5-9' } });
  expect([response.status, await response.text()]).toEqual([206, '56789']);
  expect(seen.at(-1)?.headers).toEqual({
    host: expect.any(String),
    connection: 'keep-alive',
    'accept-encoding': 'identity',
    'user-agent': 'tollgate',
    range: 'bytes=5-9',
  });
});
