import { once } from 'node:events';
import { pipeline, type Readable } from 'node:stream';
import { type ByteRange } from './byte-range';
import { driveFailure } from './drive-failure';
import { type DriveFile } from './drive-file';
import { brokenBody, type DriveCall, type DriveResponse, type DriveTransport } from './drive-transport';
import { isPage, judgeRefusal } from './judge-refusal';
import { MediaBody } from './media-body';

export interface OpenMediaOptions {
  readonly transport: DriveTransport;
  readonly call: DriveCall;
  /** Undefined for the whole file. */
  readonly range: ByteRange | undefined;
  readonly idleMs: number;
}

export interface OpenedMedia {
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
export async function openMedia(file: DriveFile, { transport, call, range, idleMs }: OpenMediaOptions): Promise<OpenedMedia> {
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
