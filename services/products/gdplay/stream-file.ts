import { pipeline, Readable } from 'node:stream';
import { type CallContext } from '../../kit/service/define-service';
import { invalidInput, ServiceError } from '../../kit/errors';
import { emptyReply, Reply, streamReply } from '../../kit/service/reply';
import { type ByteRange } from './byte-range';
import { type GdplayDeps } from './deps';
import { type DriveFile } from './drive-file';
import { inlineDisposition } from './media-type';
import { openMedia } from './open-media';
import { fileOf } from './make-link';
import { type FileRef, type FileRefInput, parseFileRef } from './parse-file-ref';
import { selectRepresentation } from './select-representation';
import { type ViewingShare } from './viewings';

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
