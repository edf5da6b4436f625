import { u16, u32, u8 } from './little-endian';

/*
 * Writes small resource tables by hand, in the encodings that only newer tools produce. From the published format, apart from the code
 * under test.
 */

export type EntryEncoding = 'plain' | 'sparse' | 'offset16' | 'compact';

export interface TableType {
  /** Two letters, or empty for the default. */
  readonly language?: string;
  readonly encoding: EntryEncoding;
  /** Values by entry id; a text is a string, a number a reference to another resource. */
  readonly entries: Readonly<Record<number, string | number>>;
}

/** @param header what follows the eight bytes that every chunk begins with */
export function chunk(type: number, header: Buffer, body: Buffer): Buffer {
  return Buffer.concat([u16(type, 8 + header.length), u32(8 + header.length + body.length), header, body]);
}

function stringPool(texts: readonly string[]): Buffer {
  const encoded = texts.map((text) => {
    const bytes = Buffer.from(text);
    return Buffer.concat([u8(text.length, bytes.length), bytes, u8(0)]);
  });
  const offsets = encoded.map((_each, index) => Buffer.concat(encoded.slice(0, index)).length);
  const start = 28 + 4 * texts.length;
  return chunk(0x0001, u32(texts.length, 0, 0x100, start, 0), Buffer.concat([u32(...offsets), ...encoded]));
}

function entryBytes(value: string | number, { encoding, pool }: { encoding: EntryEncoding; pool: string[] }): Buffer {
  const type = typeof value === 'string' ? 3 : 1;
  const data = typeof value === 'string' ? pool.push(value) - 1 : value;
  if (encoding === 'compact') return Buffer.concat([u16(0, 0x0008 | (type << 8)), u32(data)]);
  return Buffer.concat([u16(8, 0), u32(0), u16(8), u8(0, type), u32(data)]);
}

function typeChunk({ language = '', encoding, entries }: TableType, pool: string[]): Buffer {
  const ids = Object.keys(entries).map(Number);
  const bodies = ids.map((id) => entryBytes(entries[id] ?? '', { encoding, pool }));
  const offsetOf = (index: number): number => Buffer.concat(bodies.slice(0, index)).length;
  const count = Math.max(...ids) + 1;
  const dense = Array.from({ length: count }, (_each, id) => ids.indexOf(id));
  const offsets = {
    sparse: u16(...ids.flatMap((id, index) => [id, offsetOf(index) / 4])),
    offset16: u16(...dense.map((index) => (index < 0 ? 0xffff : offsetOf(index) / 4))),
    plain: u32(...dense.map((index) => (index < 0 ? 0xffffffff : offsetOf(index)))),
    compact: u32(...dense.map((index) => (index < 0 ? 0xffffffff : offsetOf(index)))),
  }[encoding];
  const config = Buffer.alloc(64);
  config.writeUInt32LE(64, 0);
  config.write(language, 8, 'latin1');
  const flags = { sparse: 1, offset16: 2, plain: 0, compact: 0 }[encoding];
  const padded = Buffer.concat([offsets, Buffer.alloc((4 - (offsets.length % 4)) % 4)]);
  const entryCount = encoding === 'sparse' ? ids.length : count;
  const header = Buffer.concat([u8(1, flags), u16(0), u32(entryCount, 84 + padded.length), config]);
  return chunk(0x0201, header, Buffer.concat([padded, ...bodies]));
}

/** A table with one package (0x7f) and one type (1): resource ids are 0x7f010000 and up. */
export function writeResourceTable(types: readonly TableType[]): Buffer {
  const pool: string[] = [];
  const chunks = types.map((type) => typeChunk(type, pool));
  const header = Buffer.concat([u32(0x7f), Buffer.alloc(256), u32(0, 0, 0, 0, 0)]);
  const contents = chunk(0x0200, header, Buffer.concat(chunks));
  return chunk(0x0002, u32(1), Buffer.concat([stringPool(pool), contents]));
}

const TABLE_HEADER_BYTES = 12;
const CHUNK_TYPE = { package: 0x0200, type: 0x0201 } as const;
const FLAG_SPARSE = 0x01;

/** True when a resources.arsc keeps the entries of some type sparsely; says whether a build tool did as it was asked. */
export function hasSparseEntries(table: Buffer): boolean {
  let at = TABLE_HEADER_BYTES;
  while (at + 8 <= table.length) {
    const type = table.readUInt16LE(at);
    if (type === CHUNK_TYPE.type && (table.readUInt8(at + 9) & FLAG_SPARSE) !== 0) return true;
    // What a package holds follows its header.
    at += type === CHUNK_TYPE.package ? table.readUInt16LE(at + 2) : table.readUInt32LE(at + 4);
  }
  return false;
}
