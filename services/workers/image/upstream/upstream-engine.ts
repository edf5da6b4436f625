import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { type RawData, WebSocket } from 'ws';
import { within } from '../../../kit/deadline';
import { FairLimit, ownerOf } from '../../../kit/fair-limit';
import type { Metrics } from '../../../kit/metrics';
import { linkPlaceOf } from '../../../kit/upstream/links-by-mode';
import type { UpstreamTarget } from '../../../kit/upstream/upstream-target';
import { watchExchange } from '../../../kit/upstream/watch-exchange';
import { pictureTypeOf } from '../../../kit/picture-type';
import type { CutOutCall, Engine } from '../engine';
import { cutOutUncertain, noForeground } from '../failures';
import { type Picture, uprightPicture } from '../picture';
import { IMAGE_LIMITS } from '../limits';
import { isNothing } from '../vision/rate-mask';
import { type ResultFrame, upstreamFault, parseFrame, refusalOf, SUBPROTOCOL } from './frames';

export interface UpstreamEngineOptions {
  readonly target: UpstreamTarget;
  /** Token for the live upstream only. */
  readonly token: string | undefined;
  /** Milliseconds from the connection to the result. */
  readonly timeoutMs: number;
  readonly metrics?: Metrics | undefined;
}

/** Removes backgrounds through a background-removal WebSocket. */
export function createUpstreamEngine({ target, token, timeoutMs, metrics }: UpstreamEngineOptions): Engine {
  // Shrinks one picture at a time, because a file that cannot be read in rows is held in memory as a whole.
  const shrinking = new FairLimit({ atOnce: 1 });
  const prepare = (picture: Picture, call: CutOutCall): ReturnType<typeof uprightPicture> =>
    picture.isShrunk ? shrinking.run(ownerOf(call), () => uprightPicture(picture), { signal: call.signal }) : uprightPicture(picture);
  return {
    cutOut: async (picture, call) => {
      const { mode, signal } = call;
      const place = linkPlaceOf({ ...target, liveToken: token }, mode);
      const upright = await prepare(picture, call);
      const exchange = { ...place, picture: upright };
      const watched = { upstream: 'background_removal', metrics, signal };
      const frame = await watchExchange(watched, () =>
        within(timeoutMs, (either) => exchangePicture({ ...exchange, signal: either }), signal),
      );
      const { engine, confidence, uncertain: isUncertain } = frame;
      if (isUncertain && call.acceptUncertain !== true) throw cutOutUncertain(confidence ?? 0);
      return { png: await checkResult(frame, picture), engine, confidence, isUncertain };
    },
    close: () => Promise.resolve(),
  };
}

const OPAQUE = 255;

/** Size and mean alpha (from 0 to 1) of a PNG; undefined when it is not usable. */
async function look(png: Buffer): Promise<{ width: number; height: number; share: number } | undefined> {
  const options = { limitInputPixels: IMAGE_LIMITS.pixels };
  const { width, height, hasAlpha } = await sharp(png, options).metadata();
  if (!hasAlpha) return undefined;
  const alpha = await sharp(png, options).toColourspace('srgb').extractChannel('alpha').raw({ depth: 'uchar' }).toBuffer();
  const { channels } = await sharp(alpha, { raw: { width, height, channels: 1 } }).stats();
  return { width, height, share: (channels[0]?.mean ?? OPAQUE) / OPAQUE };
}

/**
 * Checks every statement of a result: it must be a PNG of the picture's size that shows a part of it.
 * @throws ServiceError 502
 */
async function checkResult(frame: ResultFrame, size: { readonly width: number; readonly height: number }): Promise<Buffer> {
  const png = Buffer.from(frame.image, 'base64');
  if (pictureTypeOf(png) !== 'image/png') throw upstreamFault('bad_response', 'the result is not a PNG');
  const seen = await look(png).catch((error: unknown) => {
    throw upstreamFault('bad_response', error instanceof Error ? error : String(error));
  });
  if (!seen) throw upstreamFault('bad_response', 'the result has no alpha channel');
  const isSize = [frame, seen].every(({ width, height }) => width === size.width && height === size.height);
  if (!isSize) throw upstreamFault('bad_response', 'the result does not have the size of the picture');
  if (isNothing(seen.share)) throw noForeground();
  return png;
}

interface ExchangeOptions {
  /** `ws://` or `wss://`. */
  readonly url: string;
  /** Bearer token of the handshake. */
  readonly token: string | undefined;
  readonly picture: Pick<Picture, 'bytes' | 'mime'>;
  /** Its abort ends the exchange: the upstream gets a cancel message. */
  readonly signal: AbortSignal;
}

/** Bytes of the largest accepted PNG in base64, with the frame around it. */
const MAX_FRAME_BYTES = 96 * 1_048_576;
/** Milliseconds that the upstream has to close the connection before it is cut. */
const CLOSING_MS = 500;
const NORMAL_CLOSURE = 1000;

/** Closes the connection properly, and cuts it if that takes too long. */
function leave(socket: WebSocket): void {
  socket.on('error', () => undefined);
  if (socket.readyState === WebSocket.CONNECTING) return socket.terminate();
  socket.close(NORMAL_CLOSURE);
  setTimeout(() => socket.terminate(), CLOSING_MS).unref();
}

function textOf(data: RawData, isBinary: boolean): string {
  if (isBinary) throw upstreamFault('bad_response', 'a frame is binary');
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return (Buffer.isBuffer(data) ? data : Buffer.from(data)).toString('utf8');
}

/**
 * Sends one picture over one connection.
 * @throws ServiceError 400 or 502; the signal's reason
 */
function exchangePicture({ url, token, picture, signal }: ExchangeOptions): Promise<ResultFrame> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const id = randomUUID();
    const socket = new WebSocket(url, [SUBPROTOCOL], {
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    });
    const settle = (finish: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      leave(socket);
      finish();
    };
    const onAbort = (): void => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'cancel', id }));
      settle(() => reject(signal.reason as Error));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.on('open', () => {
      const { bytes, mime } = picture;
      socket.send(JSON.stringify({ type: 'process', id, image: bytes.toString('base64'), mime, options: { format: 'png' } }));
    });
    socket.on('message', (data, isBinary) => {
      try {
        const frame = parseFrame(textOf(data, isBinary), id);
        if (frame.type === 'result') settle(() => resolve(frame));
        else if (frame.type === 'error') throw refusalOf(frame.code);
      } catch (error) {
        settle(() => reject(error instanceof Error ? error : new Error(String(error))));
      }
    });
    socket.on('error', (error) => {
      // Before the connection opened, the upstream did not respond. Afterwards it sent something that is not a WebSocket frame.
      const reason = socket.protocol === '' ? 'unreachable' : 'bad_response';
      settle(() => reject(upstreamFault(reason, error)));
    });
    socket.on('close', () => settle(() => reject(upstreamFault('unreachable', 'the upstream closed the connection before the result'))));
  });
}
