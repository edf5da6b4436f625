import { createWriteStream, type WriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { randomId } from './random-ids';

/** Why a request body cannot be read. The status is the one that nginx sends, or only logs: 408 and 499 are never sent. */
export class BodyError extends Error {
  constructor(
    message: string,
    readonly status: 400 | 408 | 413 | 499 | 500,
  ) {
    super(message);
    this.name = 'BodyError';
  }
}

export type LoadedBody = { content: Buffer } | { filePath: string; size: number };

export interface BodyLimits {
  /** 0 is no limit. */
  maxBytes: number;
  bufferBytes: number;
  /** A directory that only this user can read. */
  spoolDir: string;
  /** Maximum pause between two reads from the client: nginx's `client_body_timeout`. */
  readTimeoutMs: number;
  /** The same for a body that is streamed to the upstream. */
  uploadTimeoutMs: number;
}

/** Calls `sink` for each chunk and `done` once. `sink` returns false to pause, and `resume` continues. */
export interface BodyPump {
  resume(): void;
  stop(): void;
  /** Ends with this error unless it has ended already. */
  fail(error: BodyError): void;
}

export interface BodySink {
  chunk(chunk: Buffer): boolean;
  done(error?: BodyError): void;
}

/** The body of one request, read at most once: into memory or a spool file for a plugin, or straight to the upstream. */
export class RequestBody {
  /** The declared length, or undefined for a chunked body. 0 means no body. */
  readonly declaredBytes: number | undefined;
  private loaded: LoadedBody | undefined;
  private started = false;
  private spooled: string | undefined;
  private pumping: BodyPump | undefined;
  private loader: BodyLoader | undefined;
  private readonly waiting: ((error: BodyError | undefined) => void)[] = [];
  private broken: BodyError | undefined;

  constructor(
    private readonly request: IncomingMessage,
    private readonly limits: BodyLimits,
    /** Sends `100 Continue` when the client waits for it. */
    private readonly askForBody: () => void,
  ) {
    const length = request.headers['content-length'];
    const chunked = request.headers['transfer-encoding'] !== undefined;
    this.declaredBytes = chunked ? undefined : Number(length ?? 0);
  }

  get isChunked(): boolean {
    return this.declaredBytes === undefined;
  }

  get isDeclaredTooLarge(): boolean {
    return this.limits.maxBytes > 0 && (this.declaredBytes ?? 0) > this.limits.maxBytes;
  }

  /** The content that {@link load} read, once it has. */
  get content(): LoadedBody | undefined {
    return this.loaded;
  }

  /** True if the client may still be sending. The connection cannot be reused without reading on. */
  get isUnread(): boolean {
    return this.declaredBytes !== 0 && !this.request.complete;
  }

  /** Reads the whole body: inline up to the buffer size, otherwise into a file of mode 0600. */
  load(done: (error: BodyError | undefined) => void): void {
    if (this.loaded !== undefined) {
      done(undefined);
      return;
    }
    if (this.declaredBytes === 0) {
      this.loaded = { content: Buffer.alloc(0) };
      done(undefined);
      return;
    }
    this.waiting.push(done);
    if (this.loader !== undefined) return;
    this.loader = new BodyLoader(this, this.limits);
    this.loader.run((error, body) => {
      this.loaded = body;
      for (const tell of this.waiting.splice(0)) tell(error);
    });
  }

  /** The body is no longer needed: the rest is discarded, and {@link load} does not call back. */
  abandon(): void {
    this.loader?.abandon();
    this.cleanUp();
  }

  /**
   * Streams the body. May be called once, and not after {@link load}.
   * @param isUpload no other request waits for it
   */
  pump(sink: BodySink, isUpload = false): BodyPump {
    if (this.started) throw new Error('a request body can be read once only');
    this.started = true;
    this.askForBody();
    const { readTimeoutMs, uploadTimeoutMs } = this.limits;
    const pumping = pumpRequest(this.request, { ...this.limits, readTimeoutMs: isUpload ? uploadTimeoutMs : readTimeoutMs }, sink);
    this.pumping = pumping;
    const { broken } = this;
    if (broken !== undefined) setImmediate(() => pumping.fail(broken));
    return pumping;
  }

  /** The input breaks the announced coding, so the body can never be complete. */
  breakOff(): void {
    this.broken = new BodyError('the body is not in its coding', 400);
    this.pumping?.fail(this.broken);
  }

  /** A name for the spool file; {@link cleanUp} removes it. */
  spoolPath(): string {
    this.spooled = join(this.limits.spoolDir, randomId());
    return this.spooled;
  }

  /** Removes the spool file. Call once the request has ended. */
  cleanUp(): void {
    // Already removed or never written: nothing is left in either case.
    if (this.spooled !== undefined) rm(this.spooled, { force: true }).catch(() => undefined);
  }
}

function pumpRequest(request: IncomingMessage, limits: BodyLimits, sink: BodySink): BodyPump {
  let received = 0;
  let ended = false;
  const onTimeout = (): void => finish(new BodyError('the client stopped sending', 408));
  let timer = setTimeout(onTimeout, limits.readTimeoutMs);
  const onData = (chunk: Buffer): void => {
    timer.refresh();
    received += chunk.length;
    if (limits.maxBytes > 0 && received > limits.maxBytes) finish(new BodyError('the body is too large', 413));
    else if (!sink.chunk(chunk)) {
      // The sink is slow, not the client, so the client's time-out is suspended until more is requested.
      clearTimeout(timer);
      request.pause();
    }
  };
  const onEnd = (): void => finish();
  const onFailure = (): void => finish(new BodyError('the client went away', 499));
  const finish = (error?: BodyError): void => {
    if (ended) return;
    stop();
    sink.done(error);
  };
  const stop = (): void => {
    ended = true;
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd).off('error', onFailure).off('close', onFailure);
    // A stream error without a listener would end the process.
    request.on('error', () => undefined);
    // The rest is discarded, because a client that writes its whole body first would otherwise never read the response.
    request.resume();
  };
  request.on('data', onData).on('end', onEnd).on('error', onFailure).on('close', onFailure);
  if (request.destroyed && !request.complete) setImmediate(onFailure);
  return {
    resume: () => {
      if (ended) return;
      clearTimeout(timer);
      timer = setTimeout(onTimeout, limits.readTimeoutMs);
      request.resume();
    },
    stop,
    fail: finish,
  };
}

/** Collects a body, moving from memory to a file when it outgrows the buffer. */
class BodyLoader implements BodySink {
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private file: WriteStream | undefined;
  private path = '';
  private pumping: BodyPump | undefined;
  private finish: ((error: BodyError | undefined, body?: LoadedBody) => void) | undefined;

  constructor(
    private readonly body: RequestBody,
    private readonly limits: BodyLimits,
  ) {}

  run(finish: (error: BodyError | undefined, body?: LoadedBody) => void): void {
    this.finish = finish;
    this.pumping = this.body.pump(this);
  }

  chunk(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.file !== undefined) return this.file.write(chunk);
    this.chunks.push(chunk);
    return this.size <= this.limits.bufferBytes || this.openFile();
  }

  done(error?: BodyError): void {
    if (error !== undefined) this.settle(error);
    else if (this.file === undefined) this.settle(undefined, { content: Buffer.concat(this.chunks) });
    else this.file.end(() => this.settle(undefined, { filePath: this.path, size: this.size }));
  }

  abandon(): void {
    this.pumping?.stop();
    this.finish = undefined;
    this.chunks.length = 0;
    this.closeFile();
  }

  private openFile(): boolean {
    this.path = this.body.spoolPath();
    this.file = createWriteStream(this.path, { mode: 0o600, flags: 'wx' });
    this.file.on('drain', () => this.pumping?.resume());
    this.file.on('error', () => {
      this.pumping?.stop();
      this.settle(new BodyError('the body could not be spooled', 500));
    });
    const head = Buffer.concat(this.chunks);
    this.chunks.length = 0;
    return this.file.write(head);
  }

  private settle(error: BodyError | undefined, body?: LoadedBody): void {
    const finish = this.finish;
    this.finish = undefined;
    if (error !== undefined) this.closeFile();
    finish?.(error, body);
  }

  /** A file that was still being opened would appear after the request's own clean-up. */
  private closeFile(): void {
    this.file?.once('close', () => this.body.cleanUp()).destroy();
  }
}
