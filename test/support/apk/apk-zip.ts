import { crc32, deflateRawSync } from 'node:zlib';

/** One entry of a ZIP that tests write by hand; whatever is given overrides what would be true. */
export interface ZipFile {
  readonly name: string;
  readonly data: Buffer | string;
  /** 8 (deflate) unless given. */
  readonly method?: number;
  readonly size?: number;
  readonly crc?: number;
  readonly flags?: number;
  /** The name in the local header. */
  readonly localName?: string;
}

export interface ZipOptions {
  readonly comment?: string;
  readonly trailing?: Buffer;
  readonly entryCount?: number;
}

interface Fields {
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly flags: number;
}

function commonFields({ method, crc, packed, size, flags }: Fields): Buffer {
  const bytes = Buffer.alloc(22);
  bytes.writeUInt16LE(20, 0);
  bytes.writeUInt16LE(flags, 2);
  bytes.writeUInt16LE(method, 4);
  bytes.writeUInt32LE(crc, 10);
  bytes.writeUInt32LE(packed, 14);
  bytes.writeUInt32LE(size, 18);
  return bytes;
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function signature(low: number, high: number): Buffer {
  return Buffer.of(0x50, 0x4b, low, high);
}

/** Writes a ZIP archive, also a wrong one. */
export function writeZip(
  files: readonly ZipFile[],
  { comment = '', trailing = Buffer.alloc(0), entryCount = files.length }: ZipOptions = {},
): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const data = Buffer.from(file.data);
    const method = file.method ?? 8;
    const packed = method === 8 ? deflateRawSync(data) : data;
    const fields = { method, crc: file.crc ?? crc32(data), packed: packed.length, size: file.size ?? data.length, flags: file.flags ?? 0 };
    const common = commonFields(fields);
    const [name, localName] = [Buffer.from(file.name), Buffer.from(file.localName ?? file.name)];
    const header = Buffer.concat([signature(3, 4), common, u16(localName.length), u16(0), localName]);
    const where = Buffer.alloc(4);
    where.writeUInt32LE(offset);
    central.push(Buffer.concat([signature(1, 2), u16(20), common, u16(name.length), Buffer.alloc(12), where, name]));
    local.push(header, packed);
    offset += header.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(16);
  end.writeUInt16LE(entryCount, 4);
  end.writeUInt16LE(entryCount, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  const record = Buffer.concat([signature(5, 6), end, u16(Buffer.byteLength(comment)), Buffer.from(comment)]);
  return Buffer.concat([...local, directory, record, trailing]);
}
