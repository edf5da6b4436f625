import { createHash, type Hash } from 'node:crypto';
import { BufferSource, type ByteSource, SourceRange } from '../bytes/byte-source';
import { type ZipArchive } from '../zip/open-zip';
import { type ContentDigest } from './algorithms';

const CHUNK_BYTES = 1024 * 1024;
const PAGE_BYTES = 4096;
const VERITY_SALT = Buffer.alloc(8);
const SHA256_BYTES = 32;
/** Offset of the central directory within the end record. */
const DIRECTORY_OFFSET_AT = 16;

/**
 * The sections that the signature covers: everything but the signing block. In them, the end record must say that the directory begins
 * where the block does.
 */
function coveredSections({ source, end }: ZipArchive, blockOffset: number): ByteSource[] {
  const record = Buffer.from(source.read(end.offset, source.size - end.offset));
  record.writeUInt32LE(blockOffset, DIRECTORY_OFFSET_AT);
  const directory = new SourceRange(source, end.directoryOffset, end.offset - end.directoryOffset);
  return [new SourceRange(source, 0, blockOffset), directory, new BufferSource(record)];
}

/** Computes one digest over the file's contents, reading a mebibyte at a time. */
export function contentDigest(kind: ContentDigest, archive: ZipArchive, blockOffset: number): Buffer {
  const sections = coveredSections(archive, blockOffset);
  switch (kind) {
    case 'chunked-sha256':
      return chunkedDigest('sha256', sections);
    case 'chunked-sha512':
      return chunkedDigest('sha512', sections);
    case 'verity-sha256':
      return verityDigest(sections);
  }
}

function* piecesOf(source: ByteSource, length: number): Generator<Buffer> {
  for (let at = 0; at < source.size; at += length) yield source.read(at, Math.min(length, source.size - at));
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** H(0x5a, count, digests of chunks); the digest of a chunk is H(0xa5, length, chunk). */
function chunkedDigest(hash: 'sha256' | 'sha512', sections: readonly ByteSource[]): Buffer {
  const count = sections.reduce((sum, each) => sum + Math.ceil(each.size / CHUNK_BYTES), 0);
  const top = createHash(hash).update(Buffer.of(0x5a)).update(u32(count));
  for (const each of sections) {
    for (const chunk of piecesOf(each, CHUNK_BYTES)) {
      top.update(createHash(hash).update(Buffer.of(0xa5)).update(u32(chunk.length)).update(chunk).digest());
    }
  }
  return top.digest();
}

function saltedHash(page: Buffer): Buffer {
  const hash: Hash = createHash('sha256').update(VERITY_SALT).update(page);
  if (page.length < PAGE_BYTES) hash.update(Buffer.alloc(PAGE_BYTES - page.length));
  return hash.digest();
}

function pageOf(bytes: Buffer, index: number): Buffer {
  return bytes.subarray(index * PAGE_BYTES, (index + 1) * PAGE_BYTES);
}

/** Root of a hash tree of 4096-byte pages over all sections as one stream, followed by their length as u64. */
function verityDigest(sections: readonly ByteSource[]): Buffer {
  let level = Buffer.concat([...pagesOf(sections)].map(saltedHash));
  do {
    const hashes = level;
    const pages = Array.from({ length: Math.ceil(hashes.length / PAGE_BYTES) }, (_each, index) => pageOf(hashes, index));
    level = Buffer.concat(pages.map(saltedHash));
  } while (level.length > SHA256_BYTES);
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(sections.reduce((sum, each) => sum + each.size, 0)));
  return Buffer.concat([level, size]);
}

/** Cuts the sections into pages, which may cross their borders. */
function* pagesOf(sections: readonly ByteSource[]): Generator<Buffer> {
  let carried: Buffer = Buffer.alloc(0);
  for (const each of sections) {
    for (const piece of piecesOf(each, CHUNK_BYTES)) {
      const bytes = carried.length > 0 ? Buffer.concat([carried, piece]) : piece;
      const whole = bytes.length - (bytes.length % PAGE_BYTES);
      for (let at = 0; at < whole; at += PAGE_BYTES) yield bytes.subarray(at, at + PAGE_BYTES);
      carried = bytes.subarray(whole);
    }
  }
  if (carried.length > 0) yield carried;
}
