import { MalformedError } from '../apk-error';
import { type ByteReader } from '../bytes/byte-reader';

/** Chunk types of Android's binary resource formats (AXML and ARSC). */
export const CHUNK = {
  stringPool: 0x0001,
  table: 0x0002,
  xml: 0x0003,
  resourceMap: 0x0180,
  startElement: 0x0102,
  endElement: 0x0103,
  text: 0x0104,
  package: 0x0200,
  type: 0x0201,
} as const;

const HEADER_BYTES = 8;

/** Layout: u16 type, u16 header size, u32 size of the whole chunk. */
export interface Chunk {
  readonly type: number;
  readonly at: number;
  readonly headerSize: number;
  readonly size: number;
}

/** @throws MalformedError when the chunk does not lie below `end` */
export function readChunk(reader: ByteReader, at: number, end: number): Chunk {
  const chunk = { type: reader.u16(at), at, headerSize: reader.u16(at + 2), size: reader.u32(at + 4) };
  if (chunk.headerSize < HEADER_BYTES || chunk.size < chunk.headerSize || at + chunk.size > end) {
    throw new MalformedError(`${reader.what}: the chunk at ${at} does not fit`);
  }
  return chunk;
}

/** The chunks between two offsets. Every chunk is at least eight bytes long, so this ends. */
export function* chunksBetween(reader: ByteReader, from: number, end: number): Generator<Chunk> {
  for (let at = from; at + HEADER_BYTES <= end;) {
    const chunk = readChunk(reader, at, end);
    yield chunk;
    at += chunk.size;
  }
}
