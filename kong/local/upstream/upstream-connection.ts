import { type Socket } from 'node:net';
import { ChunkedDecoder } from './chunked-decoder';
import { connectUpstream, type UpstreamAddress } from './upstream-tls';
import { parseUpstreamHead, type BodyFraming, type UpstreamHead } from './upstream-head';

/** nginx answers 502 to a head over its proxy buffer; services of this size of head do not exist. */
const MAX_HEAD_BYTES = 64 * 1024;

export type UpstreamFailure = 'refused' | 'timeout' | 'closed' | 'invalid';

/** What the sender of a request hears; exactly one of `end` and `fail` comes last. */
export interface UpstreamListener {
  head(head: UpstreamHead): void;
  /** The head came alone; its body is still on the way. */
  bodyFollows(): void;
  /** False asks for a pause until {@link UpstreamConnection.resume}. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** `answered`: bytes of the answer had come already. */
  fail(failure: UpstreamFailure, answered: boolean): void;
  drain(): void;
}

export interface UpstreamRequestBytes {
  method: string;
  /** Request line and headers, latin1. */
  bytes: string;
  body?: Buffer | undefined;
  timeoutMs: number;
}

/** One keep-alive connection to a service; carries one request at a time. */
export class UpstreamConnection {
  readonly socket: Socket;
  /** Requests answered so far: above 0 it is a reused connection, which the service may have closed under us. */
  answered = 0;
  /** Bytes of the present answer have come. */
  private responded = false;
  private listener: UpstreamListener | undefined;
  private method = '';
  private head: UpstreamHead | undefined;
  private headBytes: Buffer | undefined;
  private decoder: ChunkedDecoder | undefined;
  private left = 0;
  private proceed = true;
  private connected = false;
  /** Why it could not be made or broke, as Node names it: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  problem: string | undefined;
  private readonly onConnected: (() => void)[] = [];
  private detached = false;
  private timeoutMs = 0;

  constructor(
    target: UpstreamAddress & { readonly connectTimeoutMs: number },
    /** Called once when the connection can carry no further request. */
    private readonly onGone: (connection: UpstreamConnection) => void,
    private readonly onIdle: (connection: UpstreamConnection, keepAliveMs: number | undefined) => void,
  ) {
    this.socket = connectUpstream(target, () => {
      this.connected = true;
      this.socket.setTimeout(this.timeoutMs);
      this.listener?.drain();
      for (const then of this.onConnected) then();
    });
    // For the handshake of TLS too.
    this.socket.setTimeout(target.connectTimeoutMs);
    this.socket.on('data', (chunk: Buffer) => this.receive(chunk));
    this.socket.on('drain', () => this.listener?.drain());
    this.socket.on('timeout', () => this.fail(this.listener === undefined ? 'closed' : 'timeout'));
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.problem = error.code ?? error.message;
      this.fail(this.connected ? 'closed' : 'refused');
    });
    this.socket.on('end', () => this.endOfStream());
    this.socket.on('close', () => {
      this.fail('closed');
      this.onGone(this);
    });
  }

  get isConnected(): boolean {
    return this.connected;
  }

  /** Calls `then` once a request can be sent; never if that fails. */
  whenConnected(then: () => void): void {
    if (this.connected) then();
    else this.onConnected.push(then);
  }

  /** Sends a request head (and body, when it is at hand). `timeoutMs` bounds each wait for bytes, as {@link setTimeout} does. */
  send(request: UpstreamRequestBytes, listener: UpstreamListener): void {
    this.listener = listener;
    this.method = request.method;
    this.responded = false;
    this.head = undefined;
    this.proceed = true;
    this.setTimeout(request.timeoutMs);
    if (request.body === undefined || request.body.length === 0) {
      this.socket.write(request.bytes, 'latin1');
      return;
    }
    this.socket.cork();
    this.socket.write(request.bytes, 'latin1');
    this.socket.write(request.body);
    this.socket.uncork();
  }

  /** Each wait for the service is bounded by this from now on; 0 suspends the clock. */
  setTimeout(timeoutMs: number): void {
    this.timeoutMs = timeoutMs;
    if (this.connected) this.socket.setTimeout(timeoutMs);
  }

  pause(): void {
    this.proceed = false;
    this.socket.pause();
  }

  resume(): void {
    this.proceed = true;
    this.socket.resume();
  }

  /** Ends the connection; the listener hears nothing more. */
  destroy(): void {
    this.listener = undefined;
    this.socket.destroy();
  }

  /** After a 101: hands the socket over, with what came after the head pushed back for the next reader. */
  detach(): Socket {
    this.listener = undefined;
    this.detached = true;
    this.socket.removeAllListeners('data');
    this.socket.setTimeout(0);
    return this.socket;
  }

  private receive(chunk: Buffer): void {
    if (this.listener === undefined) {
      // Nothing was asked: a service that talks out of turn cannot be trusted with the next request.
      this.socket.destroy();
      return;
    }
    this.responded = true;
    if (this.head === undefined) this.receiveHead(chunk);
    else this.receiveBody(chunk);
  }

  private receiveHead(chunk: Buffer): void {
    const bytes = this.headBytes === undefined ? chunk : Buffer.concat([this.headBytes, chunk]);
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) {
      this.headBytes = bytes;
      if (bytes.length > MAX_HEAD_BYTES) this.fail('invalid');
      return;
    }
    this.headBytes = undefined;
    const head = end > MAX_HEAD_BYTES ? undefined : parseUpstreamHead(bytes.toString('latin1', 0, end), this.method);
    if (head === undefined) {
      this.fail('invalid');
      return;
    }
    const rest = bytes.subarray(end + 4);
    if (head.status < 200 && head.status !== 101) {
      // 100 and 103 are between us and the service: the client's Expect was answered by the gateway.
      if (rest.length > 0) this.receiveHead(rest);
      return;
    }
    this.head = head;
    if (head.status === 101) {
      this.socket.pause();
      if (rest.length > 0) this.socket.unshift(rest);
    }
    this.startBody(head.framing);
    this.listener?.head(head);
    if (head.status === 101) return;
    if (head.framing.kind === 'none') this.finish(rest.length);
    else if (rest.length > 0) this.receiveBody(rest);
    else this.listener?.bodyFollows();
  }

  private startBody(framing: BodyFraming): void {
    this.left = framing.kind === 'length' ? framing.bytes : 0;
    this.decoder = framing.kind === 'chunked' ? new ChunkedDecoder((data) => this.deliver(data)) : undefined;
  }

  private receiveBody(chunk: Buffer): void {
    const framing = this.head?.framing;
    if (framing?.kind === 'length') {
      const taken = Math.min(this.left, chunk.length);
      this.left -= taken;
      this.deliver(taken === chunk.length ? chunk : chunk.subarray(0, taken));
      if (this.left === 0) this.finish(chunk.length - taken);
      return;
    }
    if (this.decoder === undefined) {
      this.deliver(chunk);
      return;
    }
    const used = this.decoder.push(chunk);
    if (used === undefined) this.fail('invalid');
    else if (this.decoder.isDone) this.finish(chunk.length - used);
  }

  private deliver(data: Buffer): void {
    if (this.listener?.data(data) === false && this.proceed) this.pause();
  }

  private endOfStream(): void {
    if (this.detached) return;
    if (this.head?.framing.kind === 'close' && this.listener !== undefined) this.finish(0);
    else this.fail('closed');
    this.socket.destroy();
  }

  private finish(surplus: number): void {
    const { listener, head } = this;
    this.listener = undefined;
    this.decoder = undefined;
    this.answered += 1;
    listener?.end();
    const reusable = head?.reusable === true && surplus === 0 && !this.socket.destroyed && this.socket.writableLength === 0;
    if (!reusable) this.socket.destroy();
    else {
      if (!this.proceed) this.resume();
      this.onIdle(this, head.keepAliveMs);
    }
  }

  private fail(failure: UpstreamFailure): void {
    if (this.detached) return;
    const { listener } = this;
    this.listener = undefined;
    this.socket.destroy();
    listener?.fail(failure, this.responded);
  }
}
