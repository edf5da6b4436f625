import { createReadStream, type ReadStream } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type Socket } from 'node:net';
import { type LocalService } from '../config/kong-yml';
import { type RouteMatch } from '../config/router';
import { type GatewayAnswers, type Latencies } from '../http/answers';
import { isHeaderValue } from '../http/header-list';
import { type HttpExchange } from '../http/http-exchange';
import { type BodyError, type BodyPump } from '../http/request-body';
import { type WriteLog } from '../log';
import { proxiedHead, unitsTold } from './proxied-head';
import { type Upgrade } from './upgrade';
import { type UpstreamAgent } from './upstream-agent';
import { upstreamHeaders, upstreamTarget } from './upstream-request';

export interface ProxyParts {
  exchange: HttpExchange;
  match: RouteMatch;
  agent: UpstreamAgent;
  answers: GatewayAnswers;
  /** nginx's proxy_buffer_size. A larger response head is a 502. */
  maxHeadBytes: number;
  log: WriteLog;
  /** Called when the service accepted a change of protocols. */
  onUpgrade: (upgrade: Upgrade) => void;
}

type Failure = 'refused' | 'timeout' | 'closed' | 'invalid';

/** nginx repeats a request that may have arrived only if the method is idempotent; these are not. */
const NOT_REPEATED = new Set(['POST', 'PATCH', 'LOCK']);

/** nginx's `send_timeout`. A client that reads nothing for this long is gone. */
const CLIENT_STALL_MS = 60_000;

/** One request to the service. */
interface Attempt {
  readonly outgoing: ClientRequest;
  socket: Socket | undefined;
  /** True if the request can be sent: after the connection, and after the TLS handshake if there is one. */
  isReady: boolean;
  /** Bytes on the connection before this request. */
  bytesBefore: number;
  incoming: IncomingMessage | undefined;
  timeoutMs: number;
  hasTimedOut: boolean;
}

/** Sends one admitted request to its service and returns the response, streaming both ways. */
export class ProxyRun {
  private readonly service: LocalService;
  private attempt: Attempt | undefined;
  private failures = 0;
  private readonly sentAt = Date.now();
  private pumping: BodyPump | undefined;
  private file: ReadStream | undefined;
  /** True if bytes of a streamed body were read from the client. They cannot be sent again. */
  private bodyTaken = false;
  private uploading = false;
  private finished = false;
  private stall: NodeJS.Timeout | undefined;

  constructor(private readonly parts: ProxyParts) {
    this.service = parts.match.route.service;
  }

  start(): void {
    const { response } = this.parts.exchange;
    response.on('close', () => this.clientClosed());
    response.on('drain', () => this.clientDrained());
    this.send();
  }

  private send(): void {
    const { exchange, match, agent, maxHeadBytes } = this.parts;
    const body = exchange.upstream.body ?? this.inlineBody();
    const bodyLength = this.bodyLength(body);
    this.uploading = body === undefined && bodyLength !== undefined && bodyLength !== 0;
    const outgoing = request({
      agent,
      method: exchange.method,
      path: upstreamTarget(exchange, match),
      headers: upstreamHeaders(exchange, { match, address: agent.address, bodyLength }),
      maxHeaderSize: maxHeadBytes,
    });
    const timeoutMs = this.uploading ? 0 : this.service.readTimeoutMs;
    const attempt: Attempt = {
      ...{ outgoing, timeoutMs, socket: undefined, incoming: undefined },
      ...{ isReady: false, bytesBefore: 0, hasTimedOut: false },
    };
    this.attempt = attempt;
    outgoing.maxHeadersCount = 0;
    outgoing.on('socket', (socket) => this.takeSocket(attempt, socket));
    outgoing.on('response', (incoming) => this.receive(attempt, incoming));
    outgoing.on('upgrade', (incoming, socket, early) => this.upgrade(attempt, { incoming, socket, early }));
    outgoing.on('error', (error: NodeJS.ErrnoException) => this.fail(attempt, error.code ?? error.message));
    outgoing.on('drain', () => this.drained(attempt));
    if (this.uploading) this.upload(attempt);
    else outgoing.end(body);
  }

  private takeSocket(attempt: Attempt, socket: Socket): void {
    const { outgoing } = attempt;
    attempt.socket = socket;
    attempt.bytesBefore = socket.bytesRead;
    const onTimeout = (): void => {
      attempt.hasTimedOut = true;
      outgoing.destroy();
    };
    socket.on('timeout', onTimeout);
    outgoing.once('close', () => socket.off('timeout', onTimeout));
    if (outgoing.reusedSocket) {
      this.ready(attempt);
      return;
    }
    // Covers the TLS handshake too.
    socket.setTimeout(this.service.connectTimeoutMs);
    socket.once(this.parts.agent.address.tls ? 'secureConnect' : 'connect', () => this.ready(attempt));
  }

  private ready(attempt: Attempt): void {
    attempt.isReady = true;
    attempt.socket?.setTimeout(attempt.timeoutMs);
    const { content } = this.parts.exchange.body;
    // Read from the client only when the service is ready, because until then the attempt can be repeated.
    if (this.uploading && (content === undefined || 'content' in content)) this.pumpClient(attempt);
  }

  /** Limits each further wait for the service. 0 suspends the time-out. */
  private setTimeout(timeoutMs: number): void {
    const { attempt } = this;
    if (attempt === undefined) return;
    attempt.timeoutMs = timeoutMs;
    if (attempt.isReady) attempt.socket?.setTimeout(timeoutMs);
  }

  private receive(attempt: Attempt, incoming: IncomingMessage): void {
    incoming.on('error', () => this.fail(attempt, 'ECONNRESET'));
    if (this.finished || this.attempt !== attempt) return;
    if (!isUsable(incoming)) {
      this.giveUp('invalid', undefined);
      return;
    }
    attempt.incoming = incoming;
    const { exchange, answers } = this.parts;
    const { response } = exchange;
    exchange.isFromService = true;
    exchange.units = unitsTold(incoming);
    const head = proxiedHead({ exchange, answers, incoming, latencies: this.latencies() });
    response.writeHead(incoming.statusCode ?? 0, incoming.statusMessage, head);
    // If the body has not arrived yet, the client of a slow stream must not wait for the headers too.
    setImmediate(() => {
      if (!response.writableEnded && !response.destroyed) response.flushHeaders();
    });
    incoming.on('data', (chunk: Buffer) => this.data(incoming, chunk));
    incoming.on('end', () => this.end(attempt));
  }

  private data(incoming: IncomingMessage, chunk: Buffer): void {
    const { exchange } = this.parts;
    exchange.answerBytes += chunk.length;
    if (exchange.response.write(chunk)) return;
    // The client is slow, not the service, so the service's time-out is suspended.
    incoming.pause();
    this.setTimeout(0);
    this.stall ??= setTimeout(() => exchange.response.destroy(), CLIENT_STALL_MS);
  }

  private end({ outgoing, incoming }: Attempt): void {
    if (this.finished || incoming?.complete !== true) return;
    this.finished = true;
    clearTimeout(this.stall);
    // The response came before the whole body was sent, so the connection cannot be reused.
    if (this.uploading) outgoing.destroy();
    this.stopUpload();
    this.parts.exchange.response.end();
  }

  private upgrade({ socket: known }: Attempt, parts: { incoming: IncomingMessage; socket: Socket; early: Buffer }): void {
    const { incoming, socket: upstream, early } = parts;
    if (this.finished) {
      upstream.destroy();
      return;
    }
    this.finished = true;
    known?.removeAllListeners('timeout').setTimeout(0);
    if (early.length > 0) upstream.unshift(early);
    this.parts.exchange.isFromService = true;
    this.parts.exchange.units = unitsTold(incoming);
    this.parts.onUpgrade({ incoming, upstream, latencies: this.latencies() });
  }

  private fail(attempt: Attempt, reason: string): void {
    if (this.finished || this.attempt !== attempt) return;
    clearTimeout(this.stall);
    this.stopUpload();
    const { response } = this.parts.exchange;
    if (response.headersSent) {
      // The response cannot be completed. Breaking the connection is the only way to report that.
      this.finished = true;
      response.destroy();
      attempt.outgoing.destroy();
      return;
    }
    const failure = failureOf(attempt, reason);
    // A connection that the service closed while idle says nothing about this request. nginx does not count it either.
    const isStale = attempt.outgoing.reusedSocket && failure === 'closed';
    if (this.mayRepeat(attempt, failure, isStale)) {
      this.failures += isStale ? 0 : 1;
      this.send();
      return;
    }
    this.giveUp(failure, attempt.hasTimedOut ? undefined : reason);
  }

  private mayRepeat({ isReady, socket, bytesBefore }: Attempt, failure: Failure, isStale: boolean): boolean {
    const { exchange } = this.parts;
    const hasAnswered = socket !== undefined && socket.bytesRead > bytesBefore;
    if (hasAnswered || failure === 'invalid' || this.bodyTaken || exchange.response.destroyed) return false;
    if (!isStale && this.failures >= this.service.retries) return false;
    return !isReady || !NOT_REPEATED.has(exchange.method);
  }

  private giveUp(failure: Failure, reason: string | undefined): void {
    if (this.finished) return;
    this.finished = true;
    this.attempt?.outgoing.destroy();
    this.stopUpload();
    const { exchange, answers, log } = this.parts;
    const facts = { service: this.service.name, failure, reason, path: exchange.path, requestId: exchange.id };
    const isTls = this.service.tls !== undefined && failure === 'refused' && reason?.startsWith('ECONN') !== true;
    log('error', isTls ? 'the TLS handshake with the service failed' : 'service did not answer', facts);
    answers.nginxError(exchange, failure === 'timeout' ? 504 : 502, this.latencies());
  }

  private inlineBody(): Buffer | undefined {
    const content = this.parts.exchange.body.content;
    return content !== undefined && 'content' in content ? content.content : undefined;
  }

  /** Undefined if the request has no body at all, which differs from an empty one. */
  private bodyLength(body: Buffer | undefined): number | undefined {
    const { exchange } = this.parts;
    if (exchange.upstream.body !== undefined) return exchange.upstream.body.length;
    const content = exchange.body.content;
    if (content !== undefined && 'filePath' in content) return content.size;
    if (exchange.body.isChunked) return body?.length;
    return exchange.headers.get('content-length') === undefined ? undefined : exchange.body.declaredBytes;
  }

  /** From the spool file at once, but from the client only when the connection is {@link ready}. */
  private upload(attempt: Attempt): void {
    const content = this.parts.exchange.body.content;
    if (content === undefined || !('filePath' in content)) return;
    const file = createReadStream(content.filePath);
    this.file = file;
    file.on('data', (chunk) => {
      if (!this.sendChunk(attempt, chunk)) file.pause();
    });
    file.on('end', () => this.uploaded(attempt));
    file.on('error', () => this.bodyFailed(500));
  }

  private pumpClient(attempt: Attempt): void {
    if (this.finished || this.attempt !== attempt) return;
    this.bodyTaken = true;
    const sink = {
      chunk: (chunk: Buffer) => this.sendChunk(attempt, chunk),
      done: (error?: BodyError) => {
        if (error === undefined) this.uploaded(attempt);
        else this.bodyFailed(error.status);
      },
    };
    this.pumping = this.parts.exchange.body.pump(sink, !this.parts.match.route.requestBuffering);
  }

  private sendChunk({ outgoing }: Attempt, chunk: Buffer | string): boolean {
    const proceed = outgoing.write(chunk);
    if (!proceed) this.setTimeout(this.service.writeTimeoutMs);
    return proceed;
  }

  private drained(attempt: Attempt): void {
    if (this.attempt !== attempt) return;
    this.setTimeout(this.uploading ? 0 : this.service.readTimeoutMs);
    this.pumping?.resume();
    this.file?.resume();
  }

  private uploaded(attempt: Attempt): void {
    if (this.finished || this.attempt !== attempt) return;
    this.uploading = false;
    this.pumping = undefined;
    this.file = undefined;
    attempt.outgoing.end();
    this.setTimeout(this.service.readTimeoutMs);
  }

  private bodyFailed(status: BodyError['status']): void {
    this.finished = true;
    this.attempt?.outgoing.destroy();
    this.stopUpload();
    const { exchange, answers } = this.parts;
    if ((status === 413 || status === 500) && !exchange.response.headersSent) answers.nginxError(exchange, status);
    else exchange.response.destroy();
  }

  private stopUpload(): void {
    this.uploading = false;
    this.pumping?.stop();
    this.pumping = undefined;
    this.file?.destroy();
    this.file = undefined;
  }

  private clientClosed(): void {
    clearTimeout(this.stall);
    if (this.finished) return;
    this.finished = true;
    this.stopUpload();
    this.attempt?.outgoing.destroy();
  }

  private clientDrained(): void {
    if (this.finished) return;
    clearTimeout(this.stall);
    this.stall = undefined;
    this.setTimeout(this.service.readTimeoutMs);
    this.attempt?.incoming?.resume();
  }

  private latencies(): Latencies {
    return { upstreamMs: Date.now() - this.sentAt, proxyMs: this.sentAt - this.parts.exchange.startedAt };
  }
}

/** Whether the head is unambiguous and can be passed on. Node's parser has refused most others. */
function isUsable({ statusCode = 0, statusMessage = '', headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return (
    statusCode >= 200 && statusCode < 600 && isHeaderValue(statusMessage) && (coding === undefined || coding.toLowerCase() === 'chunked')
  );
}

function failureOf({ hasTimedOut, isReady }: Attempt, reason: string): Failure {
  if (hasTimedOut) return 'timeout';
  if (reason.startsWith('HPE_')) return 'invalid';
  return isReady ? 'closed' : 'refused';
}
