import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { untilAborted, within } from '../../../kit/deadline';
import { ServiceError, upstreamFailure } from '../../../kit/errors';
import { type Log } from '../../../kit/log';
import { type Metrics } from '../../../kit/metrics';
import { watchExchange } from '../../../kit/upstream/watch-exchange';
import { parseRankingFrame, rankFrame, type RankParameters } from './ranking-frames';

export interface RankingLinkOptions {
  /** `ws://` or `wss://`. */
  readonly url: string;
  readonly token?: string | undefined;
  /** Milliseconds for one message to be answered, connecting and one repetition included. */
  readonly messageMs: number;
  /** Milliseconds between two pings; a peer that is silent for two of them is taken for dead. */
  readonly heartbeatMs: number;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
}

/** The connection ended before the answer; the question may be asked again on another one. */
class LinkLost extends Error {
  override readonly name = 'LinkLost';
}

interface Pending {
  readonly resolve: (bodyText: string) => void;
  readonly reject: (error: Error) => void;
}

/** A body is a list of at most 60 businesses. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;
/** What `ws` says; it gives the error no code. */
const HANDSHAKE_TIMEOUT = 'Opening handshake has timed out';

function failed(reason: string, detail: string): ServiceError {
  return new ServiceError('upstream_failed', { detail, members: { reason } });
}

/** One open WebSocket and the questions that wait on it. */
class RankingConnection {
  private readonly pending = new Map<string, Pending>();
  private heard = true;
  isOpen = true;

  constructor(
    private readonly socket: WebSocket,
    { heartbeatMs, log }: RankingLinkOptions,
  ) {
    const heartbeat = setInterval(() => this.beat(), heartbeatMs);
    heartbeat.unref();
    socket.on('pong', () => (this.heard = true));
    socket.on('message', (data: Buffer) => this.receive(data.toString('utf8'), log));
    socket.on('error', (error) => log.warn({ err: error }, 'the ranking link failed'));
    socket.once('close', (code) => {
      this.isOpen = false;
      clearInterval(heartbeat);
      log.debug({ code, waiting: this.pending.size }, 'the ranking link closed');
      this.failAll(new LinkLost('the ranking link closed before the answer'));
    });
  }

  /** @throws LinkLost; ServiceError 502; the signal's reason */
  async ask(parameters: RankParameters, signal: AbortSignal): Promise<string> {
    const id = randomUUID();
    const answer = new Promise<string>((resolve, reject) => this.pending.set(id, { resolve, reject }));
    this.socket.send(rankFrame(id, parameters), (error) => {
      if (error) this.pending.get(id)?.reject(new LinkLost('the ranking link takes no more questions'));
    });
    try {
      return await untilAborted(answer, signal);
    } finally {
      this.pending.delete(id);
    }
  }

  end(): void {
    this.socket.close(1001);
    this.socket.terminate();
  }

  private beat(): void {
    if (!this.heard) return this.socket.terminate();
    this.heard = false;
    this.socket.ping();
  }

  private receive(text: string, log: Log): void {
    this.heard = true;
    const frame = parseRankingFrame(text);
    switch (frame.kind) {
      case 'result': {
        const asked = this.pending.get(frame.id);
        if (frame.bodyText === undefined) asked?.reject(failed('bad_response', 'The source of the ranking answered without an ok flag.'));
        else asked?.resolve(frame.bodyText);
        return;
      }
      case 'error': {
        const failure = failed('upstream_error', 'The source of the ranking failed.');
        if (frame.id === undefined) this.failAll(failure);
        else this.pending.get(frame.id)?.reject(failure);
        return;
      }
      case 'unknown':
        log.warn({ length: text.length }, 'the ranking link sent something unknown');
    }
  }

  private failAll(error: Error): void {
    for (const { reject } of this.pending.values()) reject(error);
  }
}

/**
 * Questions and answers over one WebSocket, matched by id. It is opened when first needed and again whenever it broke; a question whose
 * connection was lost is asked once more.
 */
export class RankingLink {
  private connection: RankingConnection | undefined;
  private opening: Promise<RankingConnection> | undefined;
  private closed = false;

  constructor(private readonly options: RankingLinkOptions) {}

  /**
   * @returns the text of the upstream's body, unchanged
   * @throws ServiceError `upstream_timeout` or `upstream_failed`; the signal's reason when the caller leaves
   */
  async ask(parameters: RankParameters, signal: AbortSignal): Promise<string> {
    const exchange = { upstream: 'ranking_websocket', metrics: this.options.metrics, signal };
    const ask = (either: AbortSignal): Promise<string> => this.askTwice(parameters, either);
    try {
      return await watchExchange(exchange, () => within(this.options.messageMs, ask, signal));
    } catch (error) {
      throw error instanceof LinkLost ? unreachable(error) : upstreamFailure(error);
    }
  }

  close(): void {
    this.closed = true;
    this.connection?.end();
  }

  private async askTwice(parameters: RankParameters, signal: AbortSignal): Promise<string> {
    try {
      return await this.askOnce(parameters, signal);
    } catch (error) {
      if (!(error instanceof LinkLost) || this.closed) throw error;
      return await this.askOnce(parameters, signal);
    }
  }

  private async askOnce(parameters: RankParameters, signal: AbortSignal): Promise<string> {
    const connection = await untilAborted(this.open(), signal);
    return connection.ask(parameters, signal);
  }

  /** Callers that find it closed share one handshake, which outlives each of them. */
  private open(): Promise<RankingConnection> {
    if (this.closed) return Promise.reject(unreachable(undefined));
    if (this.connection?.isOpen) return Promise.resolve(this.connection);
    this.opening ??= this.connect().finally(() => (this.opening = undefined));
    return this.opening;
  }

  private connect(): Promise<RankingConnection> {
    const { url, token, messageMs } = this.options;
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, {
        handshakeTimeout: messageMs,
        maxPayload: MAX_FRAME_BYTES,
        perMessageDeflate: false,
        followRedirects: false,
        ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
      });
      const refuse = (error: Error): void =>
        reject(error.message === HANDSHAKE_TIMEOUT ? new ServiceError('upstream_timeout', { cause: error }) : unreachable(error));
      socket.once('error', refuse);
      socket.once('open', () => {
        socket.off('error', refuse);
        const connection = new RankingConnection(socket, this.options);
        this.connection = connection;
        if (this.closed) connection.end();
        resolve(connection);
      });
    });
  }
}

function unreachable(cause: unknown): ServiceError {
  return new ServiceError('upstream_failed', {
    detail: 'The source of the ranking could not be reached.',
    members: { reason: 'unreachable' },
    cause,
  });
}
