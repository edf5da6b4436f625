import { type DriveCall } from './drive-transport';
import { type FileRef } from './parse-file-ref';

/** Drive's description of a file. */
export interface DriveFile {
  readonly id: string;
  readonly name: string | undefined;
  /** A video or audio type. */
  readonly contentType: string;
  /** Bytes; undefined if Drive does not say. */
  readonly size: number | undefined;
  /** A strong tag, with its quotes. */
  readonly etag: string | undefined;
  /** Unix milliseconds. */
  readonly modifiedAtMs: number | undefined;
  /** False only if Drive says that there is none. */
  readonly hasThumbnail: boolean;
  /** Pixels and milliseconds; undefined if Drive does not say. */
  readonly video: { readonly width: number | undefined; readonly height: number | undefined; readonly durationMs: number | undefined };
  readonly media: DriveMedia;
}

/** Address of the bytes. It may contain a credential, so it may not be in a log or a response. */
interface DriveMedia {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A way to find files: with an API key, or like a browser without an account. */
export interface DriveDirectory {
  /** @throws ServiceError 400 for a folder, 404, 415, 502 with `reason`, 504 */
  describe(ref: FileRef, call: DriveCall): Promise<DriveFile>;
}
