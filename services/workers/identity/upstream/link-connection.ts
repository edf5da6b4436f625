import { WebSocket } from 'ws';
import { ServiceError } from '../../../kit/errors';
import { type Log } from '../../../kit/log';
import { SourceFailure } from './source-failure';

export interface LinkTimings {
  /** Milliseconds for one message to be answered, connecting included. */
  readonly messageMs: number;
  /** For the handshake. */
  readonly connectMs: number;
  /** Between two pings; a peer that sends nothing at all after two of them is taken for dead. */
  readonly heartbeatMs: number;
  /** Before the first try to connect again; doubles up to `slowestRetryMs`. */
  readonly firstRetryMs: number;
  readonly slowestRetryMs: number;
}

export interface LinkConnectionOptions {
  /** `ws://` or `wss://`. */
  readonly url: string;
  /** Sent as a bearer token with the handshake. */
  readonly token?: string | undefined;
  readonly timings: LinkTimings;
  readonly log: Log;
  readonly onText: (text: string) => void;
  /** The connection broke: nothing sent on it will be answered. */
  readonly onDrop: (failure: SourceFailure) => void;
}

/** A photograph in base64 fits many times. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;
/** One may be late because this process was busy. */
const DEAD_AFTER_PINGS = 2;
/** What `ws` says; it gives the error no code. */
const HANDSHAKE_TIMEOUT = 'Opening handshake has timed out';

/**
 * One WebSocket that is opened when first needed and from then on again whenever it breaks or cannot be opened. A call that finds it
 * closed does not wait for the next scheduled try.
 */
export class LinkConnection {
  private socket: WebSocket | undefined;
  private opening: Promise<WebSocket> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private retryMs: number;
  private closed = false;

  constructor(private readonly options: LinkConnectionOptions) {
    this.retryMs = options.timings.firstRetryMs;
  }

  /** The open socket. @throws SourceFailure when it cannot be opened; ServiceError 504 when the handshake takes too long */
  open(): Promise<WebSocket> {
    if (this.closed) return Promise.reject(new SourceFailure('unreachable', 'the link is closed'));
    if (this.socket) return Promise.resolve(this.socket);
    clearTimeout(this.retry);
    this.opening ??= this.connect().finally(() => (this.opening = undefined));
    return this.opening;
  }

  /** Gives the present connection up: nothing more is heard of it, and the link is opened again as after any break. */
  drop(): void {
    const { socket } = this;
    this.socket = undefined;
    socket?.terminate();
    this.scheduleRetry();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
    this.socket?.close(1001);
    this.socket?.terminate();
  }

  private connect(): Promise<WebSocket> {
    const { url, token, timings } = this.options;
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, {
        handshakeTimeout: timings.connectMs,
        maxPayload: MAX_FRAME_BYTES,
        perMessageDeflate: false,
        followRedirects: false,
        ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
      });
      const failed = (error: Error): void => {
        this.scheduleRetry();
        const failure = new SourceFailure('unreachable', 'the link cannot be opened', error);
        reject(error.message === HANDSHAKE_TIMEOUT ? new ServiceError('upstream_timeout', { cause: failure }) : failure);
      };
      socket.once('error', failed);
      socket.once('open', () => {
        socket.off('error', failed);
        if (this.closed) {
          socket.terminate();
          return reject(new SourceFailure('unreachable', 'the link is closed'));
        }
        this.use(socket);
        resolve(socket);
      });
    });
  }

  private use(socket: WebSocket): void {
    const { log, timings, onText, onDrop } = this.options;
    let unanswered = 0;
    let failure: Error | undefined;
    this.socket = socket;
    this.retryMs = timings.firstRetryMs;
    const heartbeat = setInterval(() => {
      if (unanswered >= DEAD_AFTER_PINGS) return socket.terminate();
      unanswered++;
      socket.ping();
    }, timings.heartbeatMs);
    heartbeat.unref();
    socket.on('pong', () => (unanswered = 0));
    socket.on('error', (error) => (failure = error));
    socket.on('message', (data: Buffer, isBinary) => {
      if (this.socket !== socket) return;
      unanswered = 0;
      onText(isBinary ? '' : data.toString('utf8'));
    });
    socket.once('close', (code) => {
      clearInterval(heartbeat);
      if (this.socket !== socket) return;
      this.socket = undefined;
      if (!this.closed) {
        log.warn({ code, err: failure }, 'the upstream link broke');
        this.scheduleRetry();
      }
      onDrop(new SourceFailure('unreachable', 'the link broke before the answer', failure));
    });
  }

  private scheduleRetry(): void {
    if (this.closed) return;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => void this.open().catch(() => undefined), this.retryMs);
    this.retry.unref();
    this.retryMs = Math.min(this.retryMs * 2, this.options.timings.slowestRetryMs);
  }
}
