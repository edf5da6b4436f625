import { createInterface } from 'node:readline';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type KeyMode } from '../../../../plugins/core/ports';
import { type UpstreamClient } from '../../../kit/upstream/upstream-client';
import { failedStatus, SourceFailed } from './source-failed';

type LineClient = Pick<UpstreamClient, 'stream'>;

export interface LineRequest {
  readonly client: LineClient;
  readonly mode: KeyMode;
  /** True for a gzip file, regardless of its media type. */
  readonly packed: boolean;
}

/** A text file that is read line by line. */
export interface TextFile {
  /** Value of `Last-Modified`, if the server sends it. */
  readonly modifiedAt: string | undefined;
  /** @throws SourceFailed */
  readonly lines: AsyncGenerator<string>;
}

/**
 * The lines of the text file at the client's base URL, which may be too large to hold in memory. The connection closes when the reader
 * stops.
 * @throws SourceFailed, ServiceError
 */
export async function openLines({ client, mode, packed }: LineRequest): Promise<TextFile> {
  const signal = new AbortController().signal;
  const { status, headers, body } = await client.stream({ mode, path: '', signal });
  if (status !== 200) {
    body.destroy();
    throw failedStatus(status);
  }
  return { modifiedAt: headers['last-modified'], lines: linesOf(body, packed) };
}

async function* linesOf(body: Readable, packed: boolean): AsyncGenerator<string> {
  try {
    // An error of the packed stream destroys the unpacked stream, where it is noticed.
    const text: Readable = packed ? pipeline(body, createGunzip(), () => undefined) : body;
    for await (const line of createInterface({ input: text, crlfDelay: Infinity })) yield line;
  } catch (error) {
    throw new SourceFailed('bad_response', error);
  } finally {
    body.destroy();
  }
}
