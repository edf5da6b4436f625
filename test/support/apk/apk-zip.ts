import { crc32, deflateRawSync } from 'node:zlib';
import { u16, u32 } from './little-endian';

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
    const sizes = u32(file.crc ?? crc32(data), packed.length, file.size ?? data.length);
    const common = Buffer.concat([u16(20, file.flags ?? 0, method, 0, 0), sizes]);
    const [name, localName] = [Buffer.from(file.name), Buffer.from(file.localName ?? file.name)];
    const header = Buffer.concat([signature(3, 4), common, u16(localName.length, 0), localName]);
    central.push(Buffer.concat([signature(1, 2), u16(20), common, u16(name.length), Buffer.alloc(12), u32(offset), name]));
    local.push(header, packed);
    offset += header.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = [u16(0, 0, entryCount, entryCount), u32(directory.length, offset), u16(Buffer.byteLength(comment)), Buffer.from(comment)];
  const record = Buffer.concat([signature(5, 6), ...end]);
  return Buffer.concat([...local, directory, record, trailing]);
}
