import { ApkRefused } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';
import { type ByteSource } from '../bytes/byte-source';

const END_SIGNATURE = 0x06054b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const MAX_COMMENT = 65_535;

/** The end of central directory record. */
export interface ZipEnd {
  readonly offset: number;
  readonly entryCount: number;
  readonly directoryOffset: number;
  readonly directorySize: number;
  /** Bytes after the record and its comment; Android's signature check refuses such files. */
  readonly trailingBytes: number;
}

/**
 * Finds the record from the end of the file: the last one whose comment reaches exactly to the end, else the last one at all.
 * @throws ApkRefused `not_an_apk` when the file neither begins nor ends like a ZIP, `apk_malformed` when only its end is missing
 */
export function findZipEnd(source: ByteSource): ZipEnd {
  const length = Math.min(source.size, END_BYTES + MAX_COMMENT);
  const start = source.size - length;
  const tail = new ByteReader(source.read(start, length), 'ZIP end record');
  let inexact: number | undefined;
  for (let at = length - END_BYTES; at >= 0; at--) {
    if (tail.bytes[at] !== 0x50 || tail.u32(at) !== END_SIGNATURE) continue;
    const commentLength = tail.u16(at + 20);
    if (at + END_BYTES + commentLength === length) return readEnd(tail, at, start);
    if (at + END_BYTES + commentLength < length) inexact ??= at;
  }
  if (inexact !== undefined) return readEnd(tail, inexact, start);
  const beginsLikeZip = source.size >= 4 && source.read(0, 4).readUInt32LE(0) === LOCAL_SIGNATURE;
  if (beginsLikeZip)
    throw new ApkRefused('apk_malformed', 'The file begins like an APK, but its end is missing: it is truncated or damaged.');
  throw new ApkRefused('not_an_apk', 'The file is not an APK: it is not a ZIP archive.');
}

function readEnd(tail: ByteReader, at: number, start: number): ZipEnd {
  return {
    offset: start + at,
    entryCount: tail.u16(at + 10),
    directorySize: tail.u32(at + 12),
    directoryOffset: tail.u32(at + 16),
    trailingBytes: tail.length - (at + END_BYTES + tail.u16(at + 20)),
  };
}
