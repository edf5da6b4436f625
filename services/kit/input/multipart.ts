import { type IncomingMessage } from 'node:http';
import { type Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { type CallInput, type IncomingUpload, type UploadedFile } from './body-mode';
import { invalidInput, ServiceError } from '../errors';
import { FieldCollector, MAX_FIELDS } from './form-text';
import { bodyTooLarge, BodyLimit, checkDeclaredLength, decodeUtf8, DEFAULT_BODY_LIMIT_BYTES } from './read-body';

/** Bytes of a part's headers; browsers send about 200. */
const MAX_PART_HEADER_BYTES = 16_384;
const SOURCE = 'form';

export interface MultipartOptions {
  /** Maximum bytes of the body, or of the upload if there is one. */
  readonly limitBytes: number;
  /** If false, a file part is a 400. */
  readonly keepFiles: boolean;
  /** The first part with one of these names is handed over as a stream. No field after it is read. */
  readonly uploadFields: readonly string[];
}

function broken(message: string): ServiceError {
  return invalidInput([{ field: SOURCE, message }]);
}

/** Boundaries and part headers around an upload. */
const FRAME_BYTES = 65_536;

/** Maximum bytes of a whole form. An upload may have fields beside it. */
function wholeBytes({ limitBytes, uploadFields }: MultipartOptions): number {
  return uploadFields.length === 0 ? limitBytes : limitBytes + DEFAULT_BODY_LIMIT_BYTES + FRAME_BYTES;
}

/** The 413 for fields beside an upload. The file may be large because it is never held in memory; the fields are. */
function fieldsTooLarge(): ServiceError {
  return new ServiceError('payload_too_large', {
    detail: `The fields beside the file are larger than the ${DEFAULT_BODY_LIMIT_BYTES} bytes that this route accepts.`,
    members: { limit_bytes: DEFAULT_BODY_LIMIT_BYTES },
  });
}

/** Collects the parts of one body; settles once. */
class MultipartReading {
  private readonly collector = new FieldCollector(SOURCE);
  private readonly files = new Map<string, UploadedFile>();
  private readonly pending: Promise<void>[] = [];
  private settled = false;
  private upload: BodyLimit | undefined;
  private heldBytes = 0;

  constructor(
    private readonly options: MultipartOptions,
    private readonly resolve: (body: CallInput) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  fail(error: unknown): void {
    const failure = error instanceof ServiceError ? error : broken('is not valid multipart/form-data');
    // A handler that reads the upload gets the same error as the caller.
    if (this.upload && !this.upload.writableEnded) this.upload.destroy(failure);
    if (this.settled) return;
    this.settled = true;
    this.reject(failure);
  }

  /** Called when all parts have been seen. */
  finish(): void {
    if (this.upload) this.upload.end();
    else this.settleAfterFields(undefined);
  }

  private settleAfterFields(upload: IncomingUpload | undefined): void {
    Promise.all(this.pending).then(
      () => this.settle(upload),
      (error: unknown) => this.fail(error),
    );
  }

  part(name: string | undefined, stream: BusboyFileStream, filename: string | undefined, mediaType: string): void {
    const isUpload = name !== undefined && this.options.uploadFields.includes(name);
    if (name === undefined || this.settled || this.upload) {
      stream.resume();
      if (name === undefined) this.fail(broken('holds a part without a name'));
      else if (isUpload && this.upload) this.fail(invalidInput([{ field: name, message: 'is a second file: send one' }]));
      return;
    }
    // A file may come without a file name (RFC 7578, section 4.2).
    if (isUpload) {
      this.upload = new BodyLimit(this.options.limitBytes);
      // The handler may be done with the upload before the client is. The stream has no listener then.
      this.upload.on('error', () => stream.resume());
      // The upload ends with the form: a second file may follow, and then both are refused.
      stream.pipe(this.upload, { end: false });
      this.settleAfterFields({ field: name, filename, mediaType, stream: this.upload });
    } else if (filename === undefined) this.collect(stream, (bytes) => this.collector.add(name, decodeUtf8(bytes, name)));
    else if (this.options.keepFiles) this.collect(stream, (bytes) => this.keep({ field: name, filename, mediaType, bytes }));
    else {
      stream.resume();
      this.fail(invalidInput([{ field: name, message: `must be text, not a file${this.whereFilesGo()}` }]));
    }
  }

  private whereFilesGo(): string {
    const { uploadFields } = this.options;
    return uploadFields.length === 0 ? '' : `: send the file as ${uploadFields.join(' or ')}`;
  }

  private collect(stream: Readable, take: (bytes: Buffer) => void): void {
    const collected = this.bytesOf(stream).then(take);
    collected.catch((error: unknown) => this.fail(error));
    this.pending.push(collected);
  }

  private async bytesOf(stream: Readable): Promise<Buffer> {
    const mostBytes = this.options.uploadFields.length > 0 ? DEFAULT_BODY_LIMIT_BYTES : this.options.limitBytes;
    const chunks: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      // Keeps reading after the refusal, so that the parser does not wait for ever. Nothing more is kept.
      if (this.settled) continue;
      this.heldBytes += chunk.length;
      if (this.heldBytes > mostBytes) this.fail(fieldsTooLarge());
      else chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  private keep(file: UploadedFile): void {
    const before = this.files.get(file.field);
    if (before && !before.bytes.equals(file.bytes)) {
      throw invalidInput([{ field: file.field, message: 'is given more than once in the form, with different files' }]);
    }
    this.files.set(file.field, file);
  }

  private settle(upload: IncomingUpload | undefined): void {
    if (this.settled) return;
    this.settled = true;
    this.resolve({ fields: this.collector.fields, files: this.files, upload });
  }
}

/**
 * Reads multipart/form-data. Every part is read as bytes, so that text which is not UTF-8 is noticed. A part with a file name is a file.
 * @throws ServiceError 400 on a broken body, 413 over the limit
 */
export async function readMultipart(request: IncomingMessage, options: MultipartOptions): Promise<CallInput> {
  checkDeclaredLength(request, options.limitBytes, wholeBytes(options));
  const parser = createParser(request.headers['content-type'] ?? '');
  const limit = new BodyLimit(wholeBytes(options));
  return new Promise((resolve, reject) => {
    const reading = new MultipartReading(options, resolve, reject);
    const stop = (error: unknown): void => {
      request.unpipe(limit);
      limit.unpipe(parser);
      reading.fail(limit.exceeded ? bodyTooLarge(options.limitBytes) : error);
    };
    parser.on(
      'file',
      (name: string | undefined, stream: BusboyFileStream, ...[filename, , mediaType]: [string | undefined, string, string]) => {
        // A part's own error repeats the parser's, which settles the reading.
        stream.on('error', stop);
        reading.part(name, stream, filename, mediaType);
      },
    );
    for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
      parser.on(event, () => stop(broken(`holds more than ${MAX_FIELDS} fields`)));
    }
    parser.on('finish', () => reading.finish());
    parser.on('error', stop);
    limit.on('error', stop);
    request.once('error', stop).once('close', () => {
      if (!request.complete) stop(broken('ended early'));
    });
    request.pipe(limit).pipe(parser);
  });
}

function createParser(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      isPartAFile: () => true,
      limits: { parts: MAX_FIELDS, files: MAX_FIELDS, headerSize: MAX_PART_HEADER_BYTES },
    });
  } catch {
    throw broken('has no multipart boundary in its Content-Type');
  }
}
