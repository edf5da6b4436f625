import { ApkRefused, MalformedError } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';
import type { ByteSource } from '../bytes/byte-source';
import { LIMITS } from '../limits';

const CENTRAL_SIGNATURE = 0x02014b50;
const CENTRAL_BYTES = 46;
const ENCRYPTED = 0x0001;
export const STORED = 0;
export const DEFLATED = 8;

/** A file in the archive, as the central directory describes it. */
export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly crc32: number;
  readonly packedSize: number;
  /** The declared size. Reading enforces it. */
  readonly size: number;
  readonly headerOffset: number;
}

export interface ZipArchive {
  readonly source: ByteSource;
  readonly end: ZipEnd;
  /** If several entries have one name, the last is kept. Android's installer refuses such files, and its runtime differs by version. */
  readonly entries: ReadonlyMap<string, ZipEntry>;
  readonly hasDuplicates: boolean;
  /** Sentences that describe oddities of the archive. */
  readonly anomalies: readonly string[];
}

/**
 * Reads the directory of a ZIP archive, and refuses a zip bomb by its declared sizes.
 * @throws ApkRefused
 */
export function openZip(source: ByteSource): ZipArchive {
  const end = findZipEnd(source);
  if (end.directoryOffset + end.directorySize > end.offset) {
    throw new ApkRefused(
      'apk_malformed',
      'The archive is damaged: its directory lies outside of the file, or it uses the 64-bit ZIP format.',
    );
  }
  if (end.directorySize > LIMITS.zipDirectoryBytes) throw new ApkRefused('apk_too_complex', 'The directory of the archive is too large.');
  try {
    return readDirectory(source, end);
  } catch (error) {
    if (error instanceof MalformedError) throw new ApkRefused('apk_malformed', `The archive is damaged: ${error.message}.`);
    throw error;
  }
}

function readDirectory(source: ByteSource, end: ZipEnd): ZipArchive {
  const directory = new ByteReader(source.read(end.directoryOffset, end.directorySize), 'ZIP directory');
  const entries = new Map<string, ZipEntry>();
  const oddities = new Oddities();
  let unpacked = 0;
  let at = 0;
  for (let index = 0; index < end.entryCount; index++) {
    const { entry, next, flags } = readEntryRecord(directory, at);
    at = next;
    unpacked += entry.size;
    checkBomb(entry, unpacked, source.size);
    oddities.look(entry, { flags, seen: entries.has(entry.name), fileSize: source.size });
    entries.set(entry.name, entry);
  }
  if (at !== end.directorySize) oddities.add('the directory holds bytes beyond its entries');
  if (end.directoryOffset + end.directorySize !== end.offset) oddities.add('there are bytes between the directory and the end record');
  if (end.trailingBytes > 0) oddities.add(`${end.trailingBytes} bytes follow the end of the archive`);
  return { source, end, entries, hasDuplicates: oddities.duplicates > 0, anomalies: oddities.sentences() };
}

function readEntryRecord(directory: ByteReader, at: number): { entry: ZipEntry; next: number; flags: number } {
  if (directory.u32(at) !== CENTRAL_SIGNATURE) throw new MalformedError('its directory is broken');
  const nameLength = directory.u16(at + 28);
  const nameAt = at + CENTRAL_BYTES;
  const entry = {
    name: directory.slice(nameAt, nameLength).toString('utf8'),
    method: directory.u16(at + 10),
    crc32: directory.u32(at + 16),
    packedSize: directory.u32(at + 20),
    size: directory.u32(at + 24),
    headerOffset: directory.u32(at + 42),
  };
  return { entry, next: nameAt + nameLength + directory.u16(at + 30) + directory.u16(at + 32), flags: directory.u16(at + 8) };
}

/** Checks declared sizes. Reading checks that the entries do not exceed them. */
function checkBomb(entry: ZipEntry, unpackedSoFar: number, fileSize: number): void {
  const isBomb =
    entry.size > LIMITS.entryUnpackedBytes ||
    unpackedSoFar > LIMITS.totalUnpackedBytes ||
    isInflated(entry.size, entry.packedSize) ||
    isInflated(unpackedSoFar, fileSize);
  if (isBomb)
    throw new ApkRefused('apk_too_complex', 'The archive unpacks to more than an APK may hold (a ZIP bomb), so it was not analysed.');
}

function isInflated(unpacked: number, packed: number): boolean {
  return unpacked > LIMITS.bombRatioFromBytes && unpacked / Math.max(packed, 1) > LIMITS.bombRatio;
}

interface EntryFacts {
  readonly flags: number;
  readonly seen: boolean;
  readonly fileSize: number;
}

/** Counts oddities, so that a thousand odd entries produce one sentence. */
class Oddities {
  private readonly counts = new Map<string, number>();
  private readonly single: string[] = [];
  duplicates = 0;

  add(sentence: string): void {
    this.single.push(sentence);
  }

  look(entry: ZipEntry, { flags, seen, fileSize }: EntryFacts): void {
    if (seen) {
      this.duplicates++;
      this.count('have the name of another entry');
    }
    if (flags & ENCRYPTED) this.count('are marked as encrypted');
    if (entry.method !== STORED && entry.method !== DEFLATED) this.count('use a compression method that Android does not know');
    if (isUnsafeName(entry.name)) this.count('have a name that leaves the archive (a path traversal)');
    if (entry.headerOffset + entry.packedSize > fileSize) this.count('lie outside of the file');
  }

  private count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  sentences(): string[] {
    return [...this.single, ...[...this.counts].map(([what, count]) => `${count} archive entries ${what}`)];
  }
}

function isUnsafeName(name: string): boolean {
  return name.startsWith('/') || name.includes('\\') || name.includes('\0') || name.split('/').includes('..');
}

const END_SIGNATURE = 0x06054b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const MAX_COMMENT = 65_535;

/** The end of central directory record. */
interface ZipEnd {
  readonly offset: number;
  readonly entryCount: number;
  readonly directoryOffset: number;
  readonly directorySize: number;
  /** Bytes after the record and its comment. Android's signature check refuses such files. */
  readonly trailingBytes: number;
}

/**
 * Finds the record by searching from the end of the file: the last record whose comment reaches exactly to the end, otherwise the last
 * record.
 * @throws ApkRefused `not_an_apk` when the file neither begins nor ends like a ZIP, `apk_malformed` when only its end is missing
 */
function findZipEnd(source: ByteSource): ZipEnd {
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
