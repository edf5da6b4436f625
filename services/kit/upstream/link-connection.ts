import { WebSocket } from 'ws';
import { DeadlinePassed } from '../deadline';
import { type Log } from '../log';

export interface LinkTimings {
  /** Milliseconds for one message to get its response, connecting and a second try included. */
  readonly messageMs: number;
  /** Milliseconds for the handshake. */
  readonly connectMs: number;
  /** Milliseconds between two pings. A peer that sends nothing at all after two of them counts as dead. */
  readonly heartbeatMs: number;
  /**
   * Milliseconds before a broken link reopens by itself, doubling from `firstMs` to `slowestMs`. Without it, the link reopens when next
   * used.
   */
  readonly retry?: { readonly firstMs: number; readonly slowestMs: number };
}

export interface LinkConnectionOptions {
  /** `ws://` or `wss://`. */
  readonly url: string;
  /** Bearer token of the handshake. */
  readonly token?: string | undefined;
  readonly timings: LinkTimings;
  readonly log: Log;
}

interface LinkEvents {
  readonly onText: (text: string) => void;
  /** Called when the connection broke: nothing sent on it will get a response. */
  readonly onDrop: (failure: LinkFailure) => void;
}

/**
 * `late`: the handshake took too long. `not_opened`: it failed, or the link is closed. `broken`: the connection ended afterwards.
 * `garbled`: the peer broke the protocol.
 */
export class LinkFailure extends Error {
  override readonly name = 'LinkFailure';

  constructor(
    readonly kind: 'late' | 'not_opened' | 'broken' | 'garbled',
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** Many times the largest messages: a photograph in base64, or a list of 60 businesses. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;
/** One pong may be late because this process was busy. */
const DEAD_AFTER_PINGS = 2;
/** The message of `ws`, which gives the error no code. */
const HANDSHAKE_TIMEOUT = 'Opening handshake has timed out';
/** WebSocket status "going away". */
const GOING_AWAY = 1001;

/**
 * One WebSocket. It opens when first needed, and again after it broke or could not be opened. Callers that find it closed share one
 * handshake, which outlives each of them. They do not wait for the next scheduled try.
 */
export class LinkConnection {
  private socket: WebSocket | undefined;
  private opening: Promise<WebSocket> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private retryMs: number | undefined;
  private closed = false;

  constructor(
    private readonly options: LinkConnectionOptions,
    private readonly events: LinkEvents,
  ) {
    this.retryMs = options.timings.retry?.firstMs;
  }

  /** The open socket. @throws LinkFailure `late` or `not_opened` */
  open(): Promise<WebSocket> {
    if (this.closed) return Promise.reject(new LinkFailure('not_opened', 'the link is closed'));
    if (this.socket) return Promise.resolve(this.socket);
    clearTimeout(this.retry);
    this.opening ??= this.connect().finally(() => (this.opening = undefined));
    return this.opening;
  }

  /** Gives the present connection up. Nothing more is read from it, and the link reopens as after any break. */
  drop(): void {
    const { socket } = this;
    this.socket = undefined;
    socket?.terminate();
    this.scheduleRetry();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
    this.socket?.close(GOING_AWAY);
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
        const isLate = error.message === HANDSHAKE_TIMEOUT;
        const cause = isLate ? new DeadlinePassed(timings.connectMs) : error;
        reject(new LinkFailure(isLate ? 'late' : 'not_opened', 'the link cannot be opened', cause));
      };
      socket.once('error', failed);
      socket.once('open', () => {
        socket.off('error', failed);
        if (this.closed) {
          socket.terminate();
          return reject(new LinkFailure('not_opened', 'the link is closed'));
        }
        this.use(socket);
        resolve(socket);
      });
    });
  }

  private use(socket: WebSocket): void {
    const { log, timings } = this.options;
    let unanswered = 0;
    let failure: Error | undefined;
    this.socket = socket;
    this.retryMs = timings.retry?.firstMs;
    const heartbeat = setInterval(() => {
      if (unanswered >= DEAD_AFTER_PINGS) return socket.terminate();
      unanswered++;
      socket.ping();
    }, timings.heartbeatMs);
    heartbeat.unref();
    socket.on('pong', () => (unanswered = 0));
    socket.on('error', (error) => (failure = error));
    socket.on('message', (data: Buffer) => {
      if (this.socket !== socket) return;
      unanswered = 0;
      this.events.onText(data.toString('utf8'));
    });
    socket.once('close', (code) => {
      clearInterval(heartbeat);
      if (this.socket !== socket) return;
      this.socket = undefined;
      if (!this.closed) {
        log.warn({ code, err: failure }, 'the upstream link broke');
        this.scheduleRetry();
      }
      this.events.onDrop(new LinkFailure('broken', 'the link broke before the response', failure));
    });
  }

  private scheduleRetry(): void {
    const { retry } = this.options.timings;
    if (this.closed || !retry) return;
    const waitMs = this.retryMs ?? retry.firstMs;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => void this.open().catch(() => undefined), waitMs);
    this.retry.unref();
    this.retryMs = Math.min(waitMs * 2, retry.slowestMs);
  }
}
