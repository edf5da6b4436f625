import { type CallContext } from '../kit/service/define-service';
import { ServiceError } from '../kit/errors';
import { emptyReply, Reply, streamReply } from '../kit/service/reply';
import { type ByteRange } from './byte-range';
import { type GdplayDeps } from './deps';
import { type DriveFile } from './drive-file';
import { inlineDisposition } from './media-type';
import { openMedia } from './open-media';
import { type FileRefInput, parseFileRef } from './parse-file-ref';
import { selectRepresentation } from './select-representation';

/** What 200, 206 and 304 say of the file. */
function validatorHeaders({ etag, modifiedAtMs }: DriveFile): Record<string, string> {
  return {
    ...(etag !== undefined && { ETag: etag }),
    ...(modifiedAtMs !== undefined && { 'Last-Modified': new Date(modifiedAtMs).toUTCString() }),
    // Whoever keeps a copy asks again with If-None-Match: access may end.
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
  return new ServiceError('precondition_failed', { detail: 'The file is not the version that the request names.' });
}

function unsatisfiable({ size }: DriveFile): ServiceError {
  return new ServiceError('range_not_satisfiable', {
    members: { size_bytes: size },
    headers: { 'Content-Range': `bytes */${size}`, 'Accept-Ranges': 'bytes' },
  });
}

async function answerBytes(file: DriveFile, range: ByteRange | undefined, { context, deps }: StreamCall): Promise<Reply> {
  if (context.method === 'HEAD') {
    return new Reply(undefined, { headers: { 'Content-Type': file.contentType, ...fileHeaders(file, undefined) } });
  }
  const { mode, signal } = context;
  const opened = await openMedia(file, { transport: deps.transport, call: { mode, signal }, range, idleMs: deps.idleMs });
  return streamReply(opened.body, file.contentType, {
    status: opened.range ? 206 : 200,
    headers: fileHeaders(file, opened.range),
  });
}

interface StreamCall {
  readonly context: CallContext;
  readonly deps: GdplayDeps;
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

/**
 * Streams a file, or what a range or a condition leaves of it.
 * @throws ServiceError 400, 404, 412, 415, 416, 502 with `reason`, 504
 */
export async function streamFile(input: FileRefInput, context: CallContext, deps: GdplayDeps): Promise<Reply> {
  const ref = parseFileRef(input);
  const { mode, signal } = context;
  return deps.files.use(ref, { mode, signal }, (file) => answerFile(file, { context, deps }));
}
