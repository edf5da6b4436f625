import { type DriveCall } from './drive-transport';
import { type FileRef } from './parse-file-ref';

/** What Drive tells of a file before its bytes. */
export interface DriveFile {
  readonly id: string;
  readonly name: string | undefined;
  /** A video or audio type. */
  readonly contentType: string;
  /** Bytes; undefined when Drive does not tell. */
  readonly size: number | undefined;
  /** Strong, with its quotes. */
  readonly etag: string | undefined;
  /** Unix milliseconds. */
  readonly modifiedAtMs: number | undefined;
  /** False only when Drive says that there is none. */
  readonly hasThumbnail: boolean;
  /** Pixels and milliseconds; undefined where Drive does not tell. */
  readonly video: { readonly width: number | undefined; readonly height: number | undefined; readonly durationMs: number | undefined };
  readonly media: DriveMedia;
}

/** Address of the bytes. It may hold a credential: it belongs into no log and no response. */
interface DriveMedia {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One way to learn about files: with an API key, or as a browser without an account. */
export interface DriveDirectory {
  /** @throws ServiceError 400 for a folder, 404, 415, 502 with `reason`, 504 */
  describe(ref: FileRef, call: DriveCall): Promise<DriveFile>;
}
