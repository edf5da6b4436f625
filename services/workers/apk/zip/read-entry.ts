import { Readable } from 'node:stream';
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import { MalformedError } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';
import { DEFLATED, type ZipArchive, type ZipEntry } from './open-zip';

const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
const READ_BYTES = 256 * 1024;

/**
 * Offset of an entry's packed bytes.
 * @throws MalformedError when its header is missing or belongs to another entry
 */
export function dataOffset({ source }: ZipArchive, entry: ZipEntry): number {
  const header = new ByteReader(source.read(entry.headerOffset, LOCAL_BYTES), `header of ${entry.name}`);
  if (header.u32(0) !== LOCAL_SIGNATURE) throw new MalformedError(`the archive entry ${quoted(entry)} has no header`);
  const nameLength = header.u16(26);
  const name = source.read(entry.headerOffset + LOCAL_BYTES, nameLength).toString('utf8');
  if (name !== entry.name) throw new MalformedError(`the archive entry ${quoted(entry)} has another name in its header`);
  return entry.headerOffset + LOCAL_BYTES + nameLength + header.u16(28);
}

function quoted(entry: ZipEntry): string {
  return JSON.stringify(entry.name.slice(0, 200));
}

/** The packed size that Android would read: any method but deflate counts as stored. */
function packedSize(entry: ZipEntry): number {
  return entry.method === DEFLATED ? entry.packedSize : entry.size;
}

/**
 * The bytes of one entry, checked against its declared size and CRC.
 * @throws MalformedError also when the entry is larger than `maxBytes`
 */
export function readEntry(archive: ZipArchive, entry: ZipEntry, maxBytes: number): Buffer {
  if (entry.size > maxBytes) throw new MalformedError(`the archive entry ${quoted(entry)} is larger than ${maxBytes} bytes`);
  const packed = archive.source.read(dataOffset(archive, entry), packedSize(entry));
  const bytes = entry.method === DEFLATED ? inflate(entry, packed) : packed;
  if (bytes.length !== entry.size) throw new MalformedError(`the archive entry ${quoted(entry)} is shorter than declared`);
  if (crc32(bytes) !== entry.crc32) throw new MalformedError(`the archive entry ${quoted(entry)} fails its checksum`);
  return bytes;
}

function inflate(entry: ZipEntry, packed: Buffer): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(entry.size, 1) });
  } catch (error) {
    throw damaged(entry, error);
  }
}

function damaged(entry: ZipEntry, cause: unknown): MalformedError {
  return new MalformedError(`the archive entry ${quoted(entry)} cannot be unpacked`, { cause });
}

/** The bytes of one entry in pieces, for entries that should not be held in memory. Makes the same checks as {@link readEntry}. */
export async function* streamEntry(archive: ZipArchive, entry: ZipEntry): AsyncGenerator<Buffer> {
  let size = 0;
  let checksum = 0;
  for await (const piece of unpackedPieces(archive, entry)) {
    size += piece.length;
    if (size > entry.size) throw new MalformedError(`the archive entry ${quoted(entry)} is longer than declared`);
    checksum = crc32(piece, checksum);
    yield piece;
  }
  if (size !== entry.size) throw new MalformedError(`the archive entry ${quoted(entry)} is shorter than declared`);
  if (checksum !== entry.crc32) throw new MalformedError(`the archive entry ${quoted(entry)} fails its checksum`);
}

async function* unpackedPieces(archive: ZipArchive, entry: ZipEntry): AsyncGenerator<Buffer> {
  const packed = packedPieces(archive, entry);
  if (entry.method !== DEFLATED) {
    yield* packed;
    return;
  }
  const source = Readable.from(packed, { objectMode: false });
  const unpacked = source.pipe(createInflateRaw({ chunkSize: READ_BYTES }));
  source.on('error', (error) => unpacked.destroy(error));
  try {
    for await (const piece of unpacked) yield piece as Buffer;
  } catch (error) {
    throw error instanceof MalformedError ? error : damaged(entry, error);
  } finally {
    source.destroy();
    unpacked.destroy();
  }
}

function* packedPieces(archive: ZipArchive, entry: ZipEntry): Generator<Buffer> {
  const start = dataOffset(archive, entry);
  const total = packedSize(entry);
  for (let done = 0; done < total; done += READ_BYTES) {
    yield archive.source.read(start + done, Math.min(READ_BYTES, total - done));
  }
}
