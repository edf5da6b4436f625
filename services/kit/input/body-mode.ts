import { type Readable } from 'node:stream';

/** A file of a multipart body, held in memory. */
export interface UploadedFile {
  readonly field: string;
  /** The name that the client gave, without folders. Never use it as a path. */
  readonly filename: string;
  /** The type that the client declared. Look at the bytes before believing it. */
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** A file that is still arriving. The stream fails with 413 past the route's limit; fields sent after the file are not read. */
export interface IncomingUpload {
  /** The field's name, or undefined when the whole body is the file. */
  readonly field: string | undefined;
  readonly filename: string | undefined;
  readonly mediaType: string;
  readonly stream: Readable;
}

/** Everything a caller sent, from all places. */
export interface CallInput {
  /** Fields of the body and of the query. The body wins. */
  readonly fields: Record<string, unknown>;
  readonly files: ReadonlyMap<string, UploadedFile>;
  readonly upload: IncomingUpload | undefined;
}

/**
 * How the body of a request is read. GET and HEAD bodies are always ignored.
 * `fields`: JSON, urlencoded or multipart text fields. `files`: the same, and file parts are kept in memory as `context.files`.
 * `upload`: one file is handed over as a stream, `context.upload`: the first part named in `fields`, or a raw body of one of
 * `mediaTypes`; text fields sent before it are input, 1 MiB of them at most. JSON and urlencoded bodies are not read: they hold no file.
 * `ignored`: not read at all.
 */
export type BodyMode =
  | { readonly kind: 'fields' }
  | { readonly kind: 'files' }
  | {
      readonly kind: 'upload';
      readonly fields: readonly string[];
      readonly mediaTypes: readonly string[];
      /** What the file is, for the documentation. */
      readonly described?: string;
    }
  | { readonly kind: 'ignored' };
