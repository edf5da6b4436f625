import { type WebSocket } from 'ws';
import { within } from '../deadline';
import { type Metrics } from '../metrics';
import { LinkConnection, type LinkConnectionOptions, LinkFailure } from './link-connection';
import { watchExchange } from './watch-exchange';

export interface Waiter<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** Calls that wait for a response, by the key of the message that was sent. */
export type Waiting<Answer> = ReadonlyMap<string, Waiter<Answer>>;

/** One message of the peer. Its form is still to be checked. */
export interface JsonFrame {
  readonly text: string;
  /** The parsed text. */
  readonly value: unknown;
}

export interface JsonLinkOptions<Answer> extends LinkConnectionOptions {
  /** Name for metrics and traces. */
  readonly upstream: string;
  readonly metrics?: Metrics | undefined;
  /** Reads a frame and settles the calls that it belongs to. A frame that belongs to none is ignored. */
  readonly receive: (frame: JsonFrame, waiting: Waiting<Answer>) => void;
  /** If true, a message is sent once more when its connection broke. It must be safe to repeat. Default false. */
  readonly repeats?: boolean;
}

export interface LinkMessage {
  /** The key by which the response finds its call. Two waiting calls may not have the same. */
  readonly key: string;
  readonly message: object;
  /** Name of the span; a fixed text. */
  readonly operation?: string;
}

/** Exchanges of JSON over one WebSocket that all callers share. */
export class JsonLink<Answer> {
  private readonly waiting = new Map<string, Waiter<Answer>>();
  private readonly connection: LinkConnection;

  constructor(private readonly options: JsonLinkOptions<Answer>) {
    this.connection = new LinkConnection(options, {
      onText: (text) => this.hear(text),
      onDrop: (failure) => this.failAll(failure),
    });
  }

  /** @throws LinkFailure; a `TimeoutError` when no response came in time; the signal's reason; what `receive` rejects with */
  async exchange({ key, message, operation }: LinkMessage, signal: AbortSignal): Promise<Answer> {
    const { upstream, metrics, timings } = this.options;
    const text = JSON.stringify(message);
    const watched = { upstream, metrics, signal, ...(operation !== undefined && { operation }) };
    try {
      return await watchExchange(watched, () => within(timings.messageMs, (either) => this.send(key, text, either), signal));
    } finally {
      this.waiting.delete(key);
    }
  }

  close(): void {
    this.connection.close();
  }

  /**
   * A frame that is not JSON names no call, so all waiting calls fail. The connection ends too, so that a late response cannot be taken for
   * that of a later message.
   */
  private hear(text: string): void {
    const value = parseJson(text);
    if (value !== undefined) return this.options.receive({ text, value }, this.waiting);
    this.options.log.warn({ length: text.length }, 'the upstream sent something that is not JSON');
    this.failAll(new LinkFailure('garbled', 'the upstream sent something that is not JSON'));
    this.connection.drop();
  }

  private failAll(failure: LinkFailure): void {
    for (const { reject } of this.waiting.values()) reject(failure);
  }

  private async send(key: string, text: string, signal: AbortSignal): Promise<Answer> {
    try {
      return await this.sendOn(await this.connection.open(), { key, text, signal });
    } catch (error) {
      const isBroken = error instanceof LinkFailure && error.kind === 'broken';
      if (!this.options.repeats || !isBroken) throw error;
      return await this.sendOn(await this.connection.open(), { key, text, signal });
    }
  }

  private sendOn(socket: WebSocket, { key, text, signal }: { key: string; text: string; signal: AbortSignal }): Promise<Answer> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      this.waiting.set(key, { resolve, reject });
      socket.send(text, (error) => {
        if (error) reject(new LinkFailure('broken', 'the message could not be sent', error));
      });
    });
  }
}

/** No JSON text parses to undefined. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
