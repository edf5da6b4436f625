import { type IncomingMessage } from 'node:http';
import { type BodyMode, type CallInput, type IncomingUpload, type UploadedFile } from './body-mode';
import { ServiceError, invalidInput } from '../errors';
import { parseFormText } from './form-text';
import { parseJsonText } from './json-text';
import { readMultipart } from './multipart';
import { bodyTooLarge, BodyLimit, checkDeclaredLength, decodeUtf8, hasBody, readBody } from './read-body';

export interface InputOptions {
  readonly body: BodyMode;
  readonly limitBytes: number;
  /** Fields that are refused in the query. */
  readonly bodyOnlyFields: readonly string[];
}

type BodyInput = Pick<CallInput, 'fields'> & Partial<CallInput>;

const NO_FILES: ReadonlyMap<string, UploadedFile> = new Map();
const NO_BODY: BodyInput = { fields: {} };

/**
 * Merges query, urlencoded, multipart and JSON input. The body wins over the query. A source that gives a field twice with different values
 * is a 400. The parameter `api_key` is dropped.
 * @throws ServiceError 400, 413 or 415
 */
export async function readInput(request: IncomingMessage, options: InputOptions): Promise<CallInput> {
  const query = readQuery(request.url ?? '');
  const leaked = options.bodyOnlyFields.filter((name) => name in query);
  if (leaked.length > 0) throw invalidInput(leaked.map((field) => ({ field, message: 'must be sent in the body, never in the URL' })));
  const body = await readBodyInput(request, options);
  const fields = Object.assign(Object.create(null) as Record<string, unknown>, query, body.fields);
  return { fields, files: body.files ?? NO_FILES, upload: body.upload };
}

function readQuery(url: string): Record<string, unknown> {
  const mark = url.indexOf('?');
  return parseFormText(mark < 0 ? '' : url.slice(mark + 1), 'query');
}

async function readBodyInput(request: IncomingMessage, options: InputOptions): Promise<BodyInput> {
  const { body, limitBytes } = options;
  const ignored = body.kind === 'ignored' || request.method === 'GET' || request.method === 'HEAD';
  if (ignored || !hasBody(request)) return NO_BODY;
  const { mediaType, charset } = parseContentType(request.headers['content-type']);
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw unsupported('A compressed request body is not accepted.');
  if (mediaType === 'multipart/form-data') {
    const uploadFields = body.kind === 'upload' ? body.fields : [];
    return readMultipart(request, { limitBytes, keepFiles: body.kind === 'files', uploadFields });
  }
  if (body.kind === 'upload' && body.mediaTypes.includes(mediaType)) return rawUpload(request, mediaType, limitBytes);
  // A file sent under a client's default type (curl says urlencoded) is not an upload. Reading it would fill memory for nothing.
  if (body.kind === 'upload' && isFieldType(mediaType)) return NO_BODY;
  if (!isFieldType(mediaType)) {
    // A body without a type and without bytes is no body: some clients send `Transfer-Encoding: chunked` with every POST.
    if (mediaType === '' && (await readBody(request, limitBytes)).length === 0) return NO_BODY;
    throw unsupported(
      body.kind === 'upload'
        ? `Send the file as multipart/form-data or as ${body.mediaTypes.join(' or ')}.`
        : 'Send JSON, application/x-www-form-urlencoded or multipart/form-data.',
    );
  }
  if (!['', 'utf-8', 'utf8', 'us-ascii'].includes(charset)) throw unsupported('Only UTF-8 text is accepted.');
  const isText = mediaType === 'application/x-www-form-urlencoded';
  const text = decodeUtf8(await readBody(request, limitBytes), isText ? 'form' : 'JSON body');
  return { fields: isText ? parseFormText(text.trim(), 'form') : parseJsonText(text) };
}

function unsupported(detail: string): ServiceError {
  return new ServiceError('media_type_unsupported', { detail });
}

function isFieldType(mediaType: string): boolean {
  return (
    mediaType === 'application/x-www-form-urlencoded' || mediaType === 'application/json' || /^application\/[\w.-]+\+json$/.test(mediaType)
  );
}

function parseContentType(header: string | undefined): { mediaType: string; charset: string } {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';');
  const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(each)?.[1]).find((each) => each !== undefined);
  return { mediaType: type.trim(), charset: charset ?? '' };
}

function rawUpload(request: IncomingMessage, mediaType: string, limitBytes: number): BodyInput {
  checkDeclaredLength(request, limitBytes);
  const stream = new BodyLimit(limitBytes);
  request.on('error', (error) => stream.destroy(error));
  request.once('close', () => {
    if (!request.complete) stream.destroy(new ServiceError('invalid_request', { detail: 'The request body ended early.' }));
  });
  stream.on('error', () => request.unpipe(stream));
  request.pipe(stream);
  return { ...NO_BODY, upload: { field: undefined, filename: undefined, mediaType, stream } };
}

/** The 413 of an upload that was too large. It is the response, whatever the handler made of its broken stream. */
export function uploadFailure(upload: IncomingUpload | undefined, limitBytes: number): ServiceError | undefined {
  const error = upload?.stream.errored;
  if (error instanceof ServiceError) return error;
  return upload?.stream instanceof BodyLimit && upload.stream.exceeded ? bodyTooLarge(limitBytes) : undefined;
}
