import { randomUUID } from 'node:crypto';
import { type RawData, WebSocket } from 'ws';
import { type Picture } from '../picture';
import { parseFrame, refusalOf, type ResultFrame, SUBPROTOCOL, upstreamFault } from './frames';

export interface ExchangeOptions {
  /** `ws://` or `wss://`. */
  readonly url: string;
  /** Sent as a bearer token with the handshake. */
  readonly token: string | undefined;
  readonly picture: Pick<Picture, 'bytes' | 'mime'>;
  /** Ends the exchange: the upstream is told to cancel. */
  readonly signal: AbortSignal;
}

/** The largest PNG that is accepted anyway, in base64, and the frame around it. */
const MAX_FRAME_BYTES = 96 * 1_048_576;
/** Milliseconds for the upstream to close the connection before it is cut. */
const CLOSING_MS = 500;
const NORMAL_CLOSURE = 1000;

/** Closes politely, then for certain. */
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
 * One picture over one connection.
 * @throws ServiceError 400 or 502; the signal's reason
 */
export function exchangePicture({ url, token, picture, signal }: ExchangeOptions): Promise<ResultFrame> {
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
      // Before the connection was open, the upstream did not answer; afterwards what came was no WebSocket.
      const reason = socket.protocol === '' ? 'unreachable' : 'bad_response';
      settle(() => reject(upstreamFault(reason, error)));
    });
    socket.on('close', () => settle(() => reject(upstreamFault('unreachable', 'the upstream closed the connection before the result'))));
  });
}
