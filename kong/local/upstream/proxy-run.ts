import { createReadStream, type ReadStream } from 'node:fs';
import { type Answers, type Latencies } from '../http/answers';
import { type Balancer, type Target } from './balancer';
import { type Service } from '../config/kong-yml';
import { type HttpExchange } from '../http/http-exchange';
import { type Log } from '../log';
import { proxiedHead, unitsTold } from './proxied-head';
import { type BodyError, type BodyPump } from '../http/request-body';
import { type RouteMatch } from '../router';
import { type UpstreamConnection, type UpstreamFailure, type UpstreamListener } from './upstream-connection';
import { type UpstreamHead } from './upstream-head';
import { writeUpstreamHead } from './upstream-request';

export interface ProxyParts {
  exchange: HttpExchange;
  match: RouteMatch;
  balancer: Balancer;
  answers: Answers;
  log: Log;
  /** Called when the service agreed to change protocols. */
  onUpgrade: (upgrade: { head: UpstreamHead; connection: UpstreamConnection; latencies: Latencies }) => void;
}

/** nginx repeats a request that may have been received only when the method has no effect of its own. */
const NOT_REPEATED = new Set(['POST', 'PATCH', 'LOCK']);

/** nginx's `send_timeout`: a client that takes nothing for this long is gone. */
const CLIENT_STALL_MS = 60_000;

/** Takes one admitted request to its service and the answer back, streaming both ways. */
export class ProxyRun implements UpstreamListener {
  private readonly service: Service;
  private connection: UpstreamConnection | undefined;
  private target: Target | undefined;
  /** Addresses that failed this request. */
  private readonly tried: Target[] = [];
  private attempts = 0;
  private readonly sentAt = Date.now();
  private pumping: BodyPump | undefined;
  private file: ReadStream | undefined;
  /** Bytes of a streamed body have been taken from the client: they cannot be sent again. */
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
    this.attempt(false);
  }

  head(head: UpstreamHead): void {
    if (this.target) this.parts.balancer.report(this.target, { kind: 'status', status: head.status });
    this.parts.exchange.isFromService = true;
    this.parts.exchange.units = unitsTold(head);
    if (head.status === 101) {
      const { connection } = this;
      this.finished = true;
      if (connection !== undefined) this.parts.onUpgrade({ head, connection, latencies: this.latencies() });
      return;
    }
    const { exchange, answers } = this.parts;
    exchange.response.writeHead(head.status, head.reason, proxiedHead({ exchange, answers, head, latencies: this.latencies() }));
  }

  /** The body is not there yet: a client of a slow stream must not wait for its headers too. */
  bodyFollows(): void {
    this.parts.exchange.response.flushHeaders();
  }

  data(chunk: Buffer): boolean {
    const { exchange } = this.parts;
    exchange.answerBytes += chunk.length;
    const proceed = exchange.response.write(chunk);
    if (!proceed) {
      // The service is not slow, the client is: the service's clock stands still.
      this.connection?.setTimeout(0);
      this.stall ??= setTimeout(() => exchange.response.destroy(), CLIENT_STALL_MS);
    }
    return proceed;
  }

  end(): void {
    this.finished = true;
    clearTimeout(this.stall);
    // An answer before the whole body was sent: nothing more may follow on this connection.
    if (this.uploading) this.connection?.destroy();
    this.stopUpload();
    this.parts.exchange.response.end();
  }

  fail(failure: UpstreamFailure, answered: boolean): void {
    if (this.finished) return;
    clearTimeout(this.stall);
    this.stopUpload();
    const { response } = this.parts.exchange;
    if (response.headersSent) {
      // The answer cannot be completed; breaking the connection is the only way to say so.
      this.finished = true;
      response.destroy();
      return;
    }
    const fresh = this.connection?.answered === 0;
    if (fresh) this.noteFailure(failure);
    if (this.mayRepeat(failure, answered, fresh)) {
      this.attempts += fresh ? 1 : 0;
      this.attempt(true);
      return;
    }
    this.giveUp(failure === 'timeout' ? 504 : 502, failure);
  }

  drain(): void {
    this.connection?.setTimeout(this.uploading ? 0 : this.service.readTimeoutMs);
    this.pumping?.resume();
    this.file?.resume();
  }

  private attempt(fresh: boolean): void {
    const { exchange, match, balancer } = this.parts;
    const target = balancer.next(this.tried);
    this.target = target;
    if (target === undefined) {
      this.noPeer();
      return;
    }
    const body = exchange.upstream.body ?? this.inlineBody();
    const length = this.bodyLength(body);
    const connection = fresh ? target.pool.fresh() : target.pool.take();
    this.connection = connection;
    const bytes = writeUpstreamHead(exchange, { match, target, bodyLength: length });
    this.uploading = body === undefined && length !== undefined && length !== 0;
    connection.send(
      { method: exchange.upstream.method ?? exchange.method, bytes, body, timeoutMs: this.uploading ? 0 : this.service.readTimeoutMs },
      this,
    );
    if (this.uploading) this.upload(connection);
  }

  private inlineBody(): Buffer | undefined {
    const content = this.parts.exchange.body.content;
    return content !== undefined && 'content' in content ? content.content : undefined;
  }

  /** Undefined when the request has no body at all, which is not the same as an empty one. */
  private bodyLength(body: Buffer | undefined): number | undefined {
    const { exchange } = this.parts;
    if (exchange.upstream.body !== undefined) return exchange.upstream.body.length;
    const content = exchange.body.content;
    if (content !== undefined && 'filePath' in content) return content.size;
    if (exchange.body.isChunked) return body?.length;
    return exchange.headers.get('content-length') === undefined ? undefined : exchange.body.declaredBytes;
  }

  /** From the spool file, or straight from the client. */
  private upload(connection: UpstreamConnection): void {
    const content = this.parts.exchange.body.content;
    if (content !== undefined && 'filePath' in content) {
      const file = createReadStream(content.filePath);
      this.file = file;
      file.on('data', (chunk) => {
        if (!this.sendChunk(connection, typeof chunk === 'string' ? Buffer.from(chunk) : chunk)) file.pause();
      });
      file.on('end', () => this.uploaded(connection));
      file.on('error', () => this.giveUp(500, 'invalid'));
      return;
    }
    // Taken from the client only once somebody is there to take it: until then the attempt can be repeated.
    connection.whenConnected(() => this.pumpClient(connection));
  }

  private pumpClient(connection: UpstreamConnection): void {
    if (this.finished || this.connection !== connection) return;
    this.bodyTaken = true;
    const sink = {
      chunk: (chunk: Buffer) => this.sendChunk(connection, chunk),
      done: (error?: BodyError) => {
        if (error === undefined) this.uploaded(connection);
        else this.bodyFailed(error);
      },
    };
    this.pumping = this.parts.exchange.body.pump(sink, !this.parts.match.route.requestBuffering);
  }

  private sendChunk(connection: UpstreamConnection, chunk: Buffer): boolean {
    const proceed = connection.socket.write(chunk);
    if (!proceed) connection.setTimeout(this.service.writeTimeoutMs);
    return proceed;
  }

  private uploaded(connection: UpstreamConnection): void {
    if (this.finished || this.connection !== connection) return;
    this.uploading = false;
    this.pumping = undefined;
    this.file = undefined;
    connection.setTimeout(this.service.readTimeoutMs);
  }

  private bodyFailed(error: BodyError): void {
    this.connection?.destroy();
    this.stopUpload();
    this.finished = true;
    const { exchange, answers } = this.parts;
    if (error.status === 413 && !exchange.response.headersSent) answers.nginxError(exchange, 413);
    else exchange.response.destroy();
  }

  private stopUpload(): void {
    this.uploading = false;
    this.pumping?.stop();
    this.pumping = undefined;
    this.file?.destroy();
    this.file = undefined;
  }

  /** A connection that the service closed while it lay idle does not count as an attempt, but is subject to the same safety. */
  private mayRepeat(failure: UpstreamFailure, answered: boolean, fresh: boolean): boolean {
    const { exchange } = this.parts;
    if (answered || failure === 'invalid' || this.bodyTaken || exchange.response.destroyed) return false;
    if (fresh && this.attempts >= this.service.retries) return false;
    return this.connection?.isConnected !== true || !NOT_REPEATED.has(exchange.upstream.method ?? exchange.method);
  }

  /** A connection that had answered before says nothing about its target: it may just have been idle for too long. */
  private noteFailure(failure: UpstreamFailure): void {
    if (this.target === undefined) return;
    this.tried.push(this.target);
    if (failure !== 'invalid') this.parts.balancer.report(this.target, { kind: failure === 'timeout' ? 'timeout' : 'refused' });
  }

  /** Every address is known to be away. */
  private noPeer(): void {
    if (this.finished) return;
    this.finished = true;
    const { exchange, answers, log } = this.parts;
    log('error', 'no address of the service is healthy', { service: this.service.name, requestId: exchange.id });
    answers.kongError(exchange, 503, 'failure to get a peer from the ring-balancer');
  }

  private giveUp(status: number, failure: UpstreamFailure): void {
    if (this.finished) return;
    this.finished = true;
    const reason = this.connection?.problem;
    this.connection?.destroy();
    this.stopUpload();
    const { exchange, answers, log } = this.parts;
    const told = { service: this.service.name, failure, reason, path: exchange.path, requestId: exchange.id };
    const isTls = this.service.tls !== undefined && failure === 'refused' && !reason?.startsWith('ECONN');
    log('error', isTls ? 'the TLS handshake with the service failed' : 'service did not answer', told);
    answers.nginxError(exchange, status, this.latencies());
  }

  private clientClosed(): void {
    clearTimeout(this.stall);
    if (this.finished) return;
    this.finished = true;
    this.stopUpload();
    this.connection?.destroy();
  }

  private clientDrained(): void {
    if (this.finished) return;
    clearTimeout(this.stall);
    this.stall = undefined;
    this.connection?.setTimeout(this.service.readTimeoutMs);
    this.connection?.resume();
  }

  private latencies(): Latencies {
    return { upstreamMs: Date.now() - this.sentAt, proxyMs: this.sentAt - this.parts.exchange.startedAt };
  }
}
