import { once } from 'node:events';
import { type AddressInfo } from 'node:net';
import sharp from 'sharp';
import { type WebSocket, WebSocketServer } from 'ws';
import { createUpstreamEngine } from '../../../services/workers/image/upstream/upstream-engine';
import { openPicture } from '../../../services/workers/image/picture';
import { type Engine } from '../../../services/workers/image/engine';
import { eventually } from '../../support/eventually';
import { holdTime } from '../../support/faults/held-time';
import { type Frame, type ScriptedLink, startScriptedLink } from '../../support/scripted-link';
import { disc } from './pictures';
import { startTestSandbox } from '../../support/sandbox';
import { loadWorkerService } from '../../../services/kit/worker/load-proto';
import { GrpcWorkerClient } from '../../../services/kit/worker/worker-client';
import { type RemoveBackgroundRequest } from '../../../services/workers/generated/image/image/v1/RemoveBackgroundRequest';
import { type RemoveBackgroundResponse__Output } from '../../../services/workers/generated/image/image/v1/RemoveBackgroundResponse';
import { contextFor } from '../../kit/context';
import { endProgram, startProgram } from '../../support/system/program';

const never = new AbortController().signal;
const opened: { close(): unknown }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

type Answer = (frame: Frame, say: (answer: Frame | string) => void, socket: WebSocket) => void;

const engineAt = (liveUrl: string | undefined, options: { timeoutMs?: number; token?: string; sandboxUrl?: string } = {}): Engine =>
  createUpstreamEngine({
    target: { liveUrl, liveSetting: 'IMAGE_UPSTREAM_URL', sandboxUrl: options.sandboxUrl },
    token: options.token,
    timeoutMs: options.timeoutMs ?? 20_000,
  });

/** An upstream that answers each process frame as told. */
async function upstream(answer: Answer, options: { timeoutMs?: number; token?: string } = {}): Promise<ScriptedLink & { engine: Engine }> {
  const link = await startScriptedLink((frame, say, socket) => frame.type === 'process' && answer(frame, say, socket));
  opened.push(link);
  return { ...link, engine: engineAt(link.url, options) };
}

const cut = async ({ engine }: { engine: Engine }, bytes?: Buffer, signal = never) =>
  engine.cutOut(await openPicture(bytes ?? (await disc())), { mode: 'live', subscriptionId: 'one', signal });

/** Half of it transparent. */
async function halfPng(width = 96, height = 96): Promise<string> {
  const rgba = Buffer.alloc(width * height * 4);
  for (let at = 0; at < rgba.length; at += 4) rgba.set([200, 10, 10, at < rgba.length / 2 ? 255 : 0], at);
  return (
    await sharp(rgba, { raw: { width, height, channels: 4 } })
      .png()
      .toBuffer()
  ).toString('base64');
}

const resultWith =
  (image: string, changes: object = {}): Answer =>
  ({ id }, say) =>
    say({ type: 'result', id, image, mime: 'image/png', width: 96, height: 96, engine: 'them', ...changes });
const failsWith = (problem: string, options: object) => ({ problem, options: expect.objectContaining(options) });
const badResponse = failsWith('upstream_failed', { members: { reason: 'bad_response' } });

describe('the adapter of the background-removal WebSocket', () => {
  it('sends the recorded frame and takes accepted, progress and result', async () => {
    const image = await halfPng();
    const peer = await upstream(
      (frame, say, socket) => {
        say({ type: 'accepted', id: frame.id });
        say({ type: 'progress', id: frame.id, percent: 40 });
        resultWith(image)(frame, say, socket);
      },
      { token: 'tok' },
    );
    const bytes = await disc();
    expect(await cut(peer, bytes)).toEqual({ png: Buffer.from(image, 'base64'), engine: 'them', confidence: null, isUncertain: false });
    expect(peer.received[0]).toEqual({
      type: 'process',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      image: bytes.toString('base64'),
      mime: 'image/png',
      options: { format: 'png' },
    });
    expect(peer.handshakes[0]).toMatchObject({ 'sec-websocket-protocol': 'bgremove.v1', authorization: 'Bearer tok' });
  });

  it('sends an image that lies on its side upright', async () => {
    const peer = await upstream(({ id }, say) => say({ type: 'error', id, code: 'internal' }));
    const stored = await sharp(await disc('jpeg'))
      .resize(60, 40, { fit: 'fill' })
      .jpeg()
      .withMetadata({ orientation: 6 })
      .toBuffer();
    await expect(cut(peer, stored)).rejects.toBeDefined();
    expect(peer.received[0]).toMatchObject({ mime: 'image/png' });
    const sent = Buffer.from(String(peer.received[0]?.image), 'base64');
    expect(await sharp(sent).metadata()).toMatchObject({ width: 40, height: 60 });
  });

  it.each([
    ['invalid_image', failsWith('invalid_request', { members: { errors: [{ field: 'image', message: expect.any(String) }] } })],
    ['no_foreground', failsWith('upstream_failed', { code: 'no_foreground' })],
    ['overloaded', failsWith('upstream_failed', { members: { reason: 'overloaded' } })],
    ['unheard_of', badResponse],
  ])('maps the error %s', async (code, expected) => {
    const peer = await upstream(({ id }, say) => say({ type: 'error', id, code, message: 'secret text' }));
    await expect(cut(peer)).rejects.toMatchObject(expected);
  });

  it.each<[string, () => Answer | Promise<Answer>]>([
    ['is not JSON', () => (_frame, say) => say('{')],
    ['is about another picture', () => (_frame, say) => say({ type: 'accepted', id: 'other' })],
    ['is a result of another type', () => resultWith('AAAA', { mime: 'image/jpeg' })],
    ['is a result whose declared size is not its own', async () => resultWith(await halfPng(40, 40))],
    ['is a result without alpha', async () => resultWith((await disc()).toString('base64'))],
  ])('answers 502 when a frame %s', async (_what, answer) => {
    await expect(cut(await upstream(await answer()))).rejects.toMatchObject(badResponse);
  });

  it('never passes the untouched image on as a success', async () => {
    const opaque = await sharp(await disc())
      .ensureAlpha()
      .png()
      .toBuffer();
    await expect(cut(await upstream(resultWith(opaque.toString('base64'))))).rejects.toMatchObject(
      failsWith('upstream_failed', { code: 'no_foreground' }),
    );
  });

  it('answers 502 when the upstream closes early, speaks another subprotocol or is not there', async () => {
    const unreachable = failsWith('upstream_failed', { members: { reason: 'unreachable' } });
    await expect(cut(await upstream((_frame, _say, socket) => socket.close()))).rejects.toMatchObject(unreachable);
    const stranger = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => false });
    opened.push(stranger);
    await once(stranger, 'listening');
    const { port } = stranger.address() as AddressInfo;
    await expect(cut({ engine: engineAt(`ws://127.0.0.1:${port}`) })).rejects.toMatchObject(unreachable);
    await expect(cut({ engine: engineAt('ws://127.0.0.1:1') })).rejects.toMatchObject(unreachable);
  });

  it('cancels at its deadline', async () => {
    const time = holdTime('timeouts');
    opened.push({ close: () => time.release() });
    const peer = await upstream(() => void setImmediate(() => time.pass(300)), { timeoutMs: 300 });
    await expect(cut(peer)).rejects.toMatchObject({ name: 'TimeoutError' });
    await eventually(() => peer.received.length === 2);
    expect(peer.received[1]).toEqual({ type: 'cancel', id: peer.received[0]?.id });
  });

  it('cancels when the caller leaves', async () => {
    const gone = new AbortController();
    const peer = await upstream(() => gone.abort(new Error('left')));
    await expect(cut(peer, undefined, gone.signal)).rejects.toThrow('left');
    await eventually(() => peer.received.length === 2);
    expect(peer.received[1]).toEqual({ type: 'cancel', id: peer.received[0]?.id });
  });

  it('says to the log which setting is missing', async () => {
    await expect(cut({ engine: engineAt(undefined) })).rejects.toMatchObject(
      failsWith('upstream_not_configured', { cause: new Error('not set: IMAGE_UPSTREAM_URL') }),
    );
  });

  it('shows an upstream no more of a large picture than was asked for', async () => {
    const image = await halfPng(400, 400);
    const { engine, received } = await upstream(resultWith(image, { width: 400, height: 400 }));
    const picture = await openPicture(await disc('jpeg', 4_200), 400);
    const { png } = await engine.cutOut(picture, { mode: 'live', subscriptionId: 'one', signal: never });
    expect(await sharp(png).metadata()).toMatchObject({ width: 400, height: 400 });
    const shown = Buffer.from(String(received[0]?.image), 'base64');
    expect(await sharp(shown).metadata()).toMatchObject({ format: 'png', width: 400, height: 400 });
  });

  it('keeps the live token from the sandbox, which always answers the same', async () => {
    const sandbox = await startTestSandbox();
    opened.push(sandbox);
    const engine = engineAt(undefined, { token: 'tok', sandboxUrl: `${sandbox.url}/background-removal/v1` });
    const picture = await openPicture(await disc('webp'));
    const cutOut = () => engine.cutOut(picture, { mode: 'test', subscriptionId: 'one', signal: never });
    const [one, two] = [await cutOut(), await cutOut()];
    expect(one.engine).toBe('sandbox');
    expect(one.png.equals(two.png)).toBe(true);
  });
});

type Methods = { RemoveBackground: { request: RemoveBackgroundRequest; response: RemoveBackgroundResponse__Output } };

it('a worker process cuts a live picture out with GrabCut, stops when the caller leaves or time is over, and serves the next', async () => {
  const { child, ready } = await startProgram('services/workers/image/main.js', { env: { LOG_LEVEL: 'silent', WORKER_PORT: '0' } });
  const service = loadWorkerService('image');
  const client = new GrpcWorkerClient<Methods>({ service, addresses: [`127.0.0.1:${Number(ready.port)}`], name: 'image' });
  const remove = (image: Buffer, signal = new AbortController().signal, deadlineMs = 55_000) => {
    const context = { requestId: 'r', proof: contextFor('api-image', { mode: 'live' }), signal };
    return client.unary('RemoveBackground', { image }, { context, deadlineMs });
  };
  try {
    const { image, width, height, engine } = await remove(await disc('jpeg'));
    expect([width, height, engine]).toEqual([96, 96, 'grabcut']);
    expect((await sharp(image).stats()).isOpaque).toBe(false);
    const large = await disc('jpeg', 1_500);
    const gone = new AbortController();
    setTimeout(() => gone.abort(new Error('left')), 50);
    await expect(remove(large, gone.signal)).rejects.toThrow('left');
    await expect(remove(large, undefined, 50)).rejects.toMatchObject({ problem: 'upstream_timeout' });
    expect(await remove(await disc())).toMatchObject({ engine: 'grabcut' });
  } finally {
    client.close();
    await endProgram(child);
  }
});
