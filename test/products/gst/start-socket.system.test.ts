import { once } from 'node:events';
import { WebSocket } from 'ws';
import { eventually } from '../../support/eventually';
import { gstService } from '../../../services/products/gst/routes';
import { pointer } from '../../support/openapi/documented-api';
import { listening, Stage } from '../../workers/identity/support/stage';
import { documentOf } from '../../kit/documented-answers';
import { contextFor, type Harness, proofHeader } from '../../kit/harness';

const documented = documentOf(gstService);
const stage = new Stage();
let gst: Harness;
let workers: { address: string }[];
let port = 0;

beforeAll(async () => {
  const { url } = await stage.sandbox();
  workers = [await stage.worker({ SANDBOX_URL: url })];
  gst = stage.gst(workers);
  port = await listening(gst);
});
afterAll(() => stage.close());

async function open(mode: 'live' | 'test' = 'test', at = port): Promise<WebSocket> {
  const headers = proofHeader(contextFor('api-gst', { mode }));
  const socket = new WebSocket(`ws://127.0.0.1:${at}/gst/start`, { headers });
  await once(socket, 'open');
  return socket;
}

/** Every message is as the OpenAPI document describes it. */
async function nextMessage(socket: WebSocket): Promise<any> {
  const [data] = await once(socket, 'message');
  const message: unknown = JSON.parse(String(data));
  expect(documented.violations(`${pointer('paths', '/gst/start', 'get', 'x-webSocket')}/received`, message)).toEqual([]);
  return message;
}

function messagesOf(socket: WebSocket): any[] {
  const said: any[] = [];
  socket.on('message', (data: Buffer) => said.push(JSON.parse(data.toString('utf8'))));
  return said;
}

it('{"type":"start"} is answered with a captcha, and its session goes on over HTTP', async () => {
  const socket = await open();
  socket.send('{"type":"start"}');
  const captcha = await nextMessage(socket);
  expect(captcha).toEqual({
    type: 'captcha',
    sessionId: expect.stringMatching(/^[0-9a-f]{32}$/),
    captcha: expect.stringMatching(/^iVBOR/),
  });
  const payload = { sessionId: captcha.sessionId, gst: '27AAACR5055K1Z7', captcha: 'KX47M' };
  const answer = await gst.call({ method: 'POST', url: '/gst/data', payload, context: { mode: 'test' } });
  expect([answer.statusCode, answer.json().gstin]).toEqual([200, payload.gst]);
  socket.close();
});

it.each(['', '[]', '{"type":"data"}', '{"type":"start"'])('%j is refused and ends the connection with 1008', async (text) => {
  const socket = await open();
  const closed = once(socket, 'close');
  socket.send(text);
  expect(await nextMessage(socket)).toMatchObject({ type: 'error', code: 'invalid_request', status: 400 });
  expect((await closed)[0]).toBe(1008);
});

it('binary messages are refused', async () => {
  const socket = await open();
  const closed = once(socket, 'close');
  socket.send(Buffer.from('{"type":"start"}'));
  expect((await closed)[0]).toBe(1008);
});

it('one connection opens one session, as it was charged once; a second start does not take the first captcha away', async () => {
  const socket = await open();
  const said = messagesOf(socket);
  socket.send('{"type":"start"}');
  socket.send('{"type":"start"}');
  await eventually(() => said.length === 2);
  expect(said).toEqual([
    expect.objectContaining({ type: 'error', code: 'invalid_request', status: 400 }),
    expect.objectContaining({ type: 'captcha', sessionId: expect.any(String) }),
  ]);
  socket.send('{"type":"refresh"}');
  await eventually(() => said.length === 3);
  expect(said[2]).toMatchObject({ type: 'captcha', sessionId: said[1].sessionId });
  socket.close();
});

it('{"type":"refresh"} shows the next captcha of the same session, five times at most, and voids the one before it', async () => {
  const socket = await open();
  socket.send('{"type":"start"}');
  const { sessionId, captcha } = await nextMessage(socket);
  const seen = [captcha];
  for (const message of ['{"type":"refresh"}', JSON.stringify({ type: 'refresh', sessionId })]) {
    socket.send(message);
    const next = await nextMessage(socket);
    expect(next).toEqual({ type: 'captcha', sessionId, captcha: expect.stringMatching(/^iVBOR/) });
    seen.push(next.captcha);
  }
  expect(new Set(seen).size).toBe(3);
  for (const _ of [3, 4, 5]) {
    socket.send('{"type":"refresh"}');
    expect((await nextMessage(socket)).type).toBe('captcha');
  }
  socket.send('{"type":"refresh"}');
  expect(await nextMessage(socket)).toMatchObject({ type: 'error', code: 'refreshes_exhausted', status: 400 });
  socket.close();
});

it.each([
  ['before there is a captcha', []],
  ['of another session', ['{"type":"start"}']],
])('a refresh %s is refused, and the connection stays', async (_what, before) => {
  const socket = await open();
  for (const each of before) {
    socket.send(each);
    await nextMessage(socket);
  }
  socket.send(JSON.stringify({ type: 'refresh', sessionId: '0'.repeat(32) }));
  expect(await nextMessage(socket)).toMatchObject({ type: 'error', code: 'invalid_request', status: 400 });
  expect(socket.readyState).toBe(WebSocket.OPEN);
  socket.close();
});

it('a session that cannot be started is told as an error, and ends the connection', async () => {
  const socket = await open('live');
  const closed = once(socket, 'close');
  socket.send('{"type":"start"}');
  expect(await nextMessage(socket)).toMatchObject({ type: 'error', code: 'upstream_not_configured', status: 503, request_id: 'request-1' });
  expect((await closed)[0]).toBe(1011);
});

it('a connection ends by itself', async () => {
  const short = stage.gst(workers, { GST_SOCKET_MS: '50' });
  const socket = await open('test', await listening(short));
  expect((await once(socket, 'close'))[0]).toBe(1000);
});
