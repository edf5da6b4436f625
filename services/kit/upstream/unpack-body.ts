import { type Transform } from 'node:stream';
import { brotliDecompressSync, createBrotliDecompress, createUnzip, unzipSync } from 'node:zlib';
import { readStart } from './read-capped';
import { codeOf } from '../error-code';

type Encoding = 'identity' | 'zip' | 'brotli';

/** A body that is not what its `content-encoding` says, or is larger than it may be. */
export class BodyNotUnpacked extends Error {
  override readonly name = 'BodyNotUnpacked';

  constructor(
    readonly reason: 'too_large' | 'encoding_refused',
    cause?: unknown,
  ) {
    super(reason, cause === undefined ? undefined : { cause });
  }
}

/**
 * The encoding that a `content-encoding` names; undefined for one that is not read. Stacked encodings are not read, because they multiply
 * the size of a decompression bomb.
 * @param header as received; absent when the body is not encoded
 */
export function encodingOf(header = ''): Encoding | undefined {
  switch (header.trim().toLowerCase()) {
    case '':
    case 'identity':
      return 'identity';
    case 'gzip':
    case 'x-gzip':
    case 'deflate':
      return 'zip';
    case 'br':
      return 'brotli';
    default:
      return undefined;
  }
}

/** Large pieces, because each makes a round trip to a thread. With Node's 16 KiB, a page of 2 MiB would take 128 of them. */
const PIECE = { chunkSize: 131_072 };

function decompressorOf(encoding: Encoding | undefined): Transform | undefined {
  if (!encoding) throw new BodyNotUnpacked('encoding_refused');
  if (encoding === 'identity') return undefined;
  return encoding === 'zip' ? createUnzip(PIECE) : createBrotliDecompress(PIECE);
}

/**
 * Unpacks a body off the event loop, up to the cap.
 * @param header its `content-encoding`
 * @throws BodyNotUnpacked `encoding_refused`
 */
export async function unpackStart(
  packed: Buffer,
  header: string | undefined,
  maxBytes: number,
): Promise<{ bytes: Buffer; isCut: boolean }> {
  const decompressor = decompressorOf(encodingOf(header));
  if (!decompressor || packed.length === 0) return { bytes: packed.subarray(0, maxBytes), isCut: packed.length > maxBytes };
  decompressor.end(packed);
  return readStart(decompressor, maxBytes).catch((error: unknown) => {
    throw new BodyNotUnpacked('encoding_refused', error);
  });
}

/**
 * Unpacks a body that is of no use when cut.
 * @throws BodyNotUnpacked `too_large` or `encoding_refused`
 */
export async function unpackWhole(packed: Buffer, header: string | undefined, maxBytes: number): Promise<Buffer> {
  const { bytes, isCut } = await unpackStart(packed, header, maxBytes);
  if (isCut) throw new BodyNotUnpacked('too_large');
  return bytes;
}

/**
 * {@link unpackWhole} on the calling thread, for a thread that has nothing else to do.
 * @throws BodyNotUnpacked
 */
export function unpackSync(packed: Uint8Array, header: string | undefined, maxBytes: number): Uint8Array {
  const encoding = encodingOf(header);
  if (!encoding) throw new BodyNotUnpacked('encoding_refused');
  if (packed.length > maxBytes) throw new BodyNotUnpacked('too_large');
  if (encoding === 'identity' || packed.length === 0) return packed;
  try {
    return (encoding === 'zip' ? unzipSync : brotliDecompressSync)(packed, { ...PIECE, maxOutputLength: maxBytes });
  } catch (error) {
    throw new BodyNotUnpacked(codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'encoding_refused', error);
  }
}
