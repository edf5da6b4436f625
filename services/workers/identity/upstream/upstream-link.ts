import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { within } from '../../../kit/deadline';
import { type Log } from '../../../kit/log';
import { type Metrics } from '../../../kit/metrics';
import { memberText } from '../../../kit/upstream/member-text';
import { watchExchange } from '../../../kit/upstream/watch-exchange';
import { parseJson } from './http-exchange';
import { LinkConnection, type LinkTimings } from './link-connection';
import { SourceFailure } from './source-failure';

/** A message to the upstream: one that opens a session has no id yet and gets a `requestId`; all others name their session. */
export type LinkMessage = { readonly type: string; readonly [member: string]: string };

/** A message of the upstream; its members are still to be checked. */
const frameSchema = z.looseObject({
  type: z.string(),
  requestId: z.string().optional(),
  sessionId: z.string().optional(),
});
export type LinkFrame = z.output<typeof frameSchema> & {
  /** The text of `payload` as the upstream wrote it: parsing and printing would change large integers and `1.0`. */
  readonly payloadJson: string | undefined;
};

interface Waiter {
  readonly resolve: (frame: LinkFrame) => void;
  readonly reject: (error: Error) => void;
}

export interface UpstreamLinkOptions {
  readonly url: string;
  readonly token?: string | undefined;
  readonly timings: LinkTimings;
  readonly log: Log;
  /** For metrics and traces. */
  readonly upstream?: string;
  readonly metrics?: Metrics;
}

/**
 * Exchanges over one WebSocket that all sessions share. An answer is matched by `requestId`, else by `sessionId`: a session has one
 * message under way at most.
 */
export class UpstreamLink {
  private readonly waiting = new Map<string, Waiter>();
  private readonly connection: LinkConnection;

  constructor(private readonly options: UpstreamLinkOptions) {
    this.connection = new LinkConnection({
      ...options,
      onText: (text) => this.receive(text),
      onDrop: (failure) => this.failAll(failure),
    });
  }

  /** Sends a message that opens a session. Fails as {@link exchange} does. */
  start(message: LinkMessage, signal: AbortSignal): Promise<LinkFrame> {
    const requestId = randomUUID();
    return this.send({ ...message, requestId }, `request ${requestId}`, signal);
  }

  /**
   * Sends a message of a session.
   * @throws SourceFailure when the link cannot be opened or breaks; a `TimeoutError` when no answer came in time; the signal's reason
   */
  exchange(message: LinkMessage & { readonly sessionId: string }, signal: AbortSignal): Promise<LinkFrame> {
    return this.send(message, `session ${message.sessionId}`, signal);
  }

  close(): void {
    this.connection.close();
  }

  private async send(message: LinkMessage, key: string, signal: AbortSignal): Promise<LinkFrame> {
    const { messageMs } = this.options.timings;
    const { upstream = 'link', metrics } = this.options;
    const exchange = { upstream, operation: message.type, metrics, signal };
    try {
      return await watchExchange(exchange, () => within(messageMs, (either) => this.sendNow(message, key, either), signal));
    } finally {
      this.waiting.delete(key);
    }
  }

  private async sendNow(message: LinkMessage, key: string, signal: AbortSignal): Promise<LinkFrame> {
    const socket = await this.connection.open();
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      this.waiting.set(key, { resolve, reject });
      socket.send(JSON.stringify(message), (error) => {
        if (error) reject(new SourceFailure('unreachable', 'the message could not be sent', error));
      });
    });
  }

  private receive(text: string): void {
    const value = parseJson(text);
    if (value === undefined) return this.giveUp();
    const frame = readFrame(text, value);
    const waiter = frame && this.waiterOf(frame);
    if (waiter) waiter.resolve(frame);
    // An answer that came too late is expected here; what it says is nobody's any more.
    else this.options.log.debug({ readable: frame !== undefined }, 'a frame of the upstream belongs to nobody');
  }

  /**
   * What is no JSON answers nobody by name, so everyone who waits learns of it now. The connection goes with it: no late answer can be
   * taken for that of a session's next step.
   */
  private giveUp(): void {
    this.options.log.warn('the upstream sent a frame that is no JSON');
    this.failAll(new SourceFailure('bad_response', 'the upstream sent a frame that is no JSON'));
    this.connection.drop();
  }

  private waiterOf({ type, requestId, sessionId }: LinkFrame): Waiter | undefined {
    const named =
      (requestId !== undefined && this.waiting.get(`request ${requestId}`)) ||
      (sessionId !== undefined && this.waiting.get(`session ${sessionId}`));
    if (named) return named;
    // The published form of an error names nobody: then it can only be told to one that waits alone.
    const isNameless = type === 'error' && requestId === undefined && sessionId === undefined;
    return isNameless && this.waiting.size === 1 ? [...this.waiting.values()][0] : undefined;
  }

  private failAll(failure: SourceFailure): void {
    for (const { reject } of this.waiting.values()) reject(failure);
    this.waiting.clear();
  }
}

function readFrame(text: string, value: unknown): LinkFrame | undefined {
  const frame = frameSchema.safeParse(value).data;
  return frame && { ...frame, payloadJson: memberText(text, 'payload') };
}
