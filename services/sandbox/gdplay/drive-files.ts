import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { DRIVE_SAMPLE_MP4 } from './drive-sample';

/** The failure that a file causes instead of being served. */
type DriveTrouble =
  'private' | 'quota' | 'silent' | 'stalls' | 'down' | 'web_page' | 'redirected_elsewhere' | 'form_elsewhere' | 'no_thumbnail';

/** One file of the sandbox's Drive. */
export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  /** Size in bytes. */
  readonly size: number;
  readonly md5: string;
  readonly modifiedTime: string;
  /** The file is too large for Google's virus scan, so a keyless download has to confirm first. */
  readonly needsConfirmation: boolean;
  readonly trouble: DriveTrouble | undefined;
  /** The bytes from `first` to `last`, inclusive. */
  read(first: number, last: number): Readable;
}

const CHUNK_BYTES = 262_144;
const WAV_HEADER_BYTES = 44;
/** Mono, 16 bits. */
const SAMPLE_RATE = 48_000;
const MODIFIED = '2026-01-15T08:30:00.000Z';

function wavHeader(size: number): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(size - 8, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(size - WAV_HEADER_BYTES, 40);
  return header;
}

const { imul } = Math;

/** Fills in quiet noise in which no two places look alike, so that a byte from the wrong place is noticed. */
function fillNoise(words: Int32Array, firstWord: number): void {
  for (let index = 0; index < words.length; index++) {
    let mixed = imul(firstWord + index + 1, 0x9e3779b1);
    mixed = imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
    words[index] = (mixed ^ (mixed >>> 13)) & 0x01ff01ff;
  }
}

/** The bytes of a sound file at any position, computed without the file. */
function* wavBytes(size: number, first: number, last: number): Generator<Buffer> {
  const header = wavHeader(size);
  for (let at = first; at <= last;) {
    if (at < WAV_HEADER_BYTES) {
      const part = header.subarray(at, Math.min(WAV_HEADER_BYTES, last + 1));
      at += part.length;
      yield part;
      continue;
    }
    const length = Math.min(CHUNK_BYTES, last + 1 - at);
    const skipped = (at - WAV_HEADER_BYTES) % 4;
    const words = new Int32Array(Math.ceil((skipped + length) / 4));
    fillNoise(words, (at - WAV_HEADER_BYTES - skipped) / 4);
    yield Buffer.from(words.buffer, skipped, length);
    at += length;
  }
}

type FileTraits = Partial<Pick<StoredFile, 'name' | 'mimeType' | 'md5' | 'needsConfirmation' | 'trouble'>>;

/** An invented sound's checksum comes from its id. Its bytes never change, and hashing a gigabyte at start would take seconds. */
function stored(id: string, traits: FileTraits & Pick<StoredFile, 'size' | 'read'>): StoredFile {
  return {
    id,
    name: 'Sandbox clip.mp4',
    mimeType: 'video/mp4',
    needsConfirmation: false,
    trouble: undefined,
    md5: createHash('md5').update(id).digest('hex'),
    modifiedTime: MODIFIED,
    ...traits,
  };
}

function sound(id: string, size: number, traits: FileTraits = {}): StoredFile {
  return stored(id, {
    name: 'Sandbox noise.wav',
    mimeType: 'audio/wav',
    size,
    read: (first, last) => Readable.from(wavBytes(size, first, last), { objectMode: false }),
    ...traits,
  });
}

function held(id: string, bytes: Buffer, traits: FileTraits = {}): StoredFile {
  const read = (first: number, last: number): Readable => Readable.from([bytes.subarray(first, last + 1)], { objectMode: false });
  return stored(id, { size: bytes.length, md5: createHash('md5').update(bytes).digest('hex'), read, ...traits });
}

function clip(id: string, trouble?: DriveTrouble, traits: FileTraits = {}): StoredFile {
  return held(id, DRIVE_SAMPLE_MP4, { trouble, ...traits });
}

/** Size of the file that is too large to keep in memory. */
const LARGE_BYTES = 1_073_741_824;
const SOUND_BYTES = 1_000_003;

/** The sandbox's Drive. Every id that is not here is missing. */
export const DRIVE_FILES = {
  video: clip('sandbox-video-0001'),
  scanned: clip('sandbox-confirm-01', undefined, { needsConfirmation: true, name: 'Naïve "größe" 视频.mp4' }),
  audio: sound('sandbox-audio-0001', SOUND_BYTES),
  large: sound('sandbox-large-0001', LARGE_BYTES, { needsConfirmation: true }),
  untyped: clip('sandbox-untyped-01', undefined, { mimeType: 'application/octet-stream' }),
  empty: held('sandbox-empty-0001', Buffer.alloc(0)),
  document: held('sandbox-pdf-000001', Buffer.from('%PDF-1.4\n%%EOF\n'), { name: 'Paper.pdf', mimeType: 'application/pdf' }),
  folder: held('sandbox-folder-001', Buffer.alloc(0), { name: 'Folder', mimeType: 'application/vnd.google-apps.folder' }),
  private: clip('sandbox-private-01', 'private'),
  quota: clip('sandbox-quota-0001', 'quota'),
  silent: clip('sandbox-timeout-01', 'silent'),
  stalls: sound('sandbox-stall-0001', SOUND_BYTES, { trouble: 'stalls' }),
  down: clip('sandbox-down-00001', 'down'),
  webPage: clip('sandbox-html-00001', 'web_page'),
  elsewhere: clip('sandbox-elsewhere1', 'redirected_elsewhere'),
  formElsewhere: clip('sandbox-badform-01', 'form_elsewhere', { needsConfirmation: true }),
  withoutThumbnail: clip('sandbox-nothumb-01', 'no_thumbnail'),
} as const satisfies Record<string, StoredFile>;

const BY_ID: ReadonlyMap<string, StoredFile> = new Map(Object.values(DRIVE_FILES).map((file) => [file.id, file]));

export function findDriveFile(id: string | undefined): StoredFile | undefined {
  return id === undefined ? undefined : BY_ID.get(id);
}
