import { randomUUID } from 'node:crypto';
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ApkRefused } from '../apk-error';
import { type ByteSource, FileSource, SourceRange } from '../bytes/byte-source';
import { LIMITS } from '../limits';
import { type Notes } from '../notes';
import { STORED, type ZipArchive, type ZipEntry } from '../zip/open-zip';
import { dataOffset, streamEntry } from '../zip/read-entry';

/**
 * Opens files inside an archive as if they were separate files. Stored files are read in place. Compressed files are unpacked to disk, so
 * that none is held in memory.
 */
export class Unpacker {
  private unpacked = 0;
  private readonly descriptors: number[] = [];

  /** @param folder files in it have no name; they disappear when closed, or when the process ends */
  constructor(private readonly folder: string) {}

  /** @throws MalformedError; ApkRefused `apk_too_complex` when all files together take too much space */
  async open(archive: ZipArchive, entry: ZipEntry): Promise<ByteSource> {
    if (entry.method === STORED) return new SourceRange(archive.source, dataOffset(archive, entry), entry.size);
    this.unpacked += entry.size;
    if (this.unpacked > LIMITS.unpackedApksBytes)
      throw new ApkRefused('apk_too_complex', 'The compressed APKs of the archive unpack to more than is analysed.');
    const descriptor = this.openNameless();
    let at = 0;
    for await (const piece of streamEntry(archive, entry)) {
      for (let done = 0; done < piece.length;) done += writeSync(descriptor, piece, done, piece.length - done, at + done);
      at += piece.length;
    }
    return new FileSource(descriptor, at);
  }

  private openNameless(): number {
    const path = join(this.folder, `apk-${randomUUID()}.part`);
    const descriptor = openSync(path, 'wx+', 0o600);
    this.descriptors.push(descriptor);
    unlinkSync(path);
    return descriptor;
  }

  close(): void {
    for (const descriptor of this.descriptors.splice(0)) closeSync(descriptor);
  }
}

/** Tools for opening an app. */
export interface OpenOptions {
  readonly notes: Notes;
  /** Unpacks the compressed APKs of a set. */
  readonly unpacker: Unpacker;
}
