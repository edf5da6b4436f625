import { pipeline, Readable, Transform, type TransformCallback } from 'node:stream';
import { once } from 'node:events';
import { type CallContext } from '../../kit/service/define-service';
import { invalidInput, ServiceError } from '../../kit/errors';
import { emptyReply, Reply, streamReply } from '../../kit/service/reply';
import { type GdplayDeps } from './deps';
import { type DriveFile } from './drive-file';
import { inlineDisposition } from './media-type';
import { fileOf } from './make-link';
import { type FileRef, type FileRefInput, parseFileRef } from './parse-file-ref';
import { selectRepresentation, type ByteRange } from './select-representation';
import { type ViewingShare } from './viewings';
import { driveFailure, driveTimeout } from './drive-failure';
import { brokenBody, type DriveCall, type DriveResponse, type DriveTransport } from './drive-transport';
import { isPage, judgeRefusal } from './judge-refusal';

/** Headers about the file in a 200, 206 and 304. */
function validatorHeaders({ etag, modifiedAtMs }: DriveFile): Record<string, string> {
  return {
    ...(etag !== undefined && { ETag: etag }),
    ...(modifiedAtMs !== undefined && { 'Last-Modified': new Date(modifiedAtMs).toUTCString() }),
    // A client with a copy must ask again with If-None-Match, because its access may end.
    'Cache-Control': 'private, no-cache',
  };
}

function fileHeaders(file: DriveFile, range: ByteRange | undefined): Record<string, string> {
  const length = range ? range.last - range.first + 1 : file.size;
  return {
    ...validatorHeaders(file),
    'Accept-Ranges': file.size === undefined ? 'none' : 'bytes',
    'Content-Disposition': inlineDisposition(file.name),
    ...(range && { 'Content-Range': `bytes ${range.first}-${range.last}/${file.size}` }),
    ...(length !== undefined && { 'Content-Length': String(length) }),
  };
}

function preconditionFailed(): ServiceError {
  return new ServiceError('precondition_failed', { detail: 'The file is not in the version named in the request.' });
}

function unsatisfiable({ size }: DriveFile): ServiceError {
  return new ServiceError('range_not_satisfiable', {
    members: { size_bytes: size },
    headers: { 'Content-Range': `bytes */${size}`, 'Accept-Ranges': 'bytes' },
  });
}

async function answerBytes(file: DriveFile, range: ByteRange | undefined, { context, deps, share }: StreamCall): Promise<Reply> {
  if (context.method === 'HEAD') {
    return new Reply(undefined, { headers: { 'Content-Type': file.contentType, ...fileHeaders(file, undefined) } });
  }
  const { mode, signal } = context;
  const opened = await openMedia(file, { transport: deps.transport, call: { mode, signal }, range, idleMs: deps.idleMs });
  return streamReply(counted(opened.body, share), file.contentType, {
    status: opened.range ? 206 : 200,
    headers: fileHeaders(file, opened.range),
  });
}

/** Counts the bytes of a viewing as they pass. The viewing's request ends with the body. */
function counted(body: Readable, share: ViewingShare | undefined): Readable {
  if (!share) return body;
  // A failure or end of either side ends the other.
  return pipeline(body, share.count(), () => share.end());
}

interface StreamCall {
  readonly context: CallContext;
  readonly deps: GdplayDeps;
  /** Its share of a viewing, if a link replaced the key. */
  readonly share: ViewingShare | undefined;
}

function answerFile(file: DriveFile, call: StreamCall): Promise<Reply> {
  const { method, clock } = call.context;
  const header = (name: string): string | undefined => call.context.header(name);
  const selection = selectRepresentation({ method, header, nowMs: clock.now() }, file);
  switch (selection.kind) {
    case 'not_modified':
      return Promise.resolve(emptyReply(304, validatorHeaders(file)));
    case 'precondition_failed':
      return Promise.reject(preconditionFailed());
    case 'unsatisfiable':
      return Promise.reject(unsatisfiable(file));
    case 'whole':
      return answerBytes(file, undefined, call);
    case 'part':
      return answerBytes(file, selection, call);
  }
}

/** A link names its file itself, so the request may not name another. */
function linkedFile(resource: string, { id, url, resourcekey }: FileRefInput): FileRef {
  if ([id, url, resourcekey].some((text) => (text ?? '') !== '')) {
    throw invalidInput([{ field: 'link', message: 'names its own file: leave out id, url and resourcekey' }]);
  }
  return fileOf(resource);
}

/**
 * Streams a file, or the part that a range or a condition selects.
 * @throws ServiceError 400, 401 for a link that is used up, 404, 412, 415, 416, 429, 502 with `reason`, 504
 */
export async function streamFile(input: FileRefInput, context: CallContext, deps: GdplayDeps): Promise<Reply> {
  const { mode, signal, proof } = context;
  const ref = proof.link ? linkedFile(proof.link.resource, input) : parseFileRef(input);
  const share = proof.link && deps.viewings.admit(proof.link);
  let isStreaming = false;
  try {
    const reply = await deps.files.use(ref, { mode, signal }, (file) => answerFile(file, { context, deps, share }));
    isStreaming = reply.body instanceof Readable;
    return reply;
  } finally {
    if (!isStreaming) share?.end();
  }
}

interface OpenMediaOptions {
  readonly transport: DriveTransport;
  readonly call: DriveCall;
  /** Undefined for the whole file. */
  readonly range: ByteRange | undefined;
  readonly idleMs: number;
}

interface OpenedMedia {
  readonly body: Readable;
  /** Undefined when the body is the whole file, even if a range was requested: a source may ignore it. */
  readonly range: ByteRange | undefined;
}

/** Whether Drive's response has the requested part of the file as described. */
function fits({ status, headers }: DriveResponse, file: DriveFile, range: ByteRange | undefined): boolean {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') return false;
  if (status === 206) return range !== undefined && headers['content-range'] === `bytes ${range.first}-${range.last}/${file.size}`;
  const length = headers['content-length'];
  return file.size === undefined || length === undefined || Number(length) === file.size;
}

/**
 * The bytes of a file or of a range of it, as soon as the first of them has arrived.
 * @throws ServiceError 404, 502 with `reason`, 504
 */
async function openMedia(file: DriveFile, { transport, call, range, idleMs }: OpenMediaOptions): Promise<OpenedMedia> {
  const asked = range && { range: `bytes=${range.first}-${range.last}` };
  const response = await transport.open(file.media.address, { ...call, headers: { ...file.media.headers, ...asked } });
  const isMedia = (response.status === 200 || response.status === 206) && !isPage(response);
  if (!isMedia) throw await judgeRefusal(response);
  if (!fits(response, file, range)) {
    response.body.destroy();
    throw driveFailure('bad_response', new Error(`status ${response.status} does not fit the description of the file`));
  }
  const sent = response.status === 206 ? range : undefined;
  const body = new MediaBody({ expectedBytes: sent ? sent.last - sent.first + 1 : file.size, idleMs });
  // A failure or end of either side ends the other.
  pipeline(response.body, body, () => undefined);
  try {
    await once(body, 'readable');
  } catch (error) {
    throw brokenBody(error);
  }
  return { body, range: sent };
}

interface MediaBodyOptions {
  /** Announced number of bytes; undefined if none was announced. */
  readonly expectedBytes: number | undefined;
  /** Milliseconds within which at least one chunk must pass. */
  readonly idleMs: number;
}

/**
 * Passes bytes from Drive to the client as fast as they are read. Fails when nothing moves for too long on either side, and when Drive
 * sends more or fewer bytes than announced.
 */
class MediaBody extends Transform {
  private seen = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly options: MediaBodyOptions) {
    super();
    const { idleMs } = options;
    this.timer = setTimeout(() => this.destroy(driveTimeout(new Error(`nothing moved for ${idleMs} ms`))), idleMs);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.timer.refresh();
    this.seen += chunk.length;
    const { expectedBytes } = this.options;
    if (expectedBytes !== undefined && this.seen > expectedBytes)
      done(driveFailure('bad_response', new Error('more bytes than announced')));
    else done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    const { expectedBytes } = this.options;
    if (expectedBytes !== undefined && this.seen < expectedBytes)
      done(driveFailure('bad_response', new Error('fewer bytes than announced')));
    else done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.timer);
    done(error);
  }
}
