import { MalformedError } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';
import { LIMITS } from '../limits';
import { type ZipArchive } from '../zip/open-zip';

const MAGIC = 'APK Sig Block 42';
/** Size and magic at the end. */
const FOOTER_BYTES = 24;

/** Ids of the values in the block. */
export const BLOCK_ID = { v2: 0x7109871a, v3: 0xf05368c0, v31: 0x1b93ad61 } as const;

/** The APK Signing Block: values by id, and the offset of its start. */
export interface SigningBlock {
  readonly offset: number;
  readonly values: ReadonlyMap<number, Buffer>;
}

/**
 * Finds the block directly before the central directory.
 * @returns undefined when there is none
 * @throws MalformedError when the block is broken
 */
export function findSigningBlock({ source, end }: ZipArchive): SigningBlock | undefined {
  if (end.directoryOffset < FOOTER_BYTES + 8) return undefined;
  const footer = new ByteReader(source.read(end.directoryOffset - FOOTER_BYTES, FOOTER_BYTES), 'signing block');
  if (footer.bytes.toString('latin1', 8) !== MAGIC) return undefined;
  const size = footer.u64(0);
  const offset = end.directoryOffset - size - 8;
  if (size < FOOTER_BYTES || size > LIMITS.signingBlockBytes || offset < 0) throw new MalformedError('signing block: has a bad size');
  const block = new ByteReader(source.read(offset, size + 8), 'signing block');
  if (block.u64(0) !== size) throw new MalformedError('signing block: its two sizes differ');
  return { offset, values: readPairs(block, block.length - FOOTER_BYTES) };
}

/** Layout: u64 length, u32 id, value. If several values have one id, the first counts, as on Android. */
function readPairs(block: ByteReader, end: number): ReadonlyMap<number, Buffer> {
  const values = new Map<number, Buffer>();
  for (let at = 8; at < end;) {
    const length = block.u64(at);
    if (length < 4 || at + 8 + length > end) throw new MalformedError('signing block: a value does not fit');
    const id = block.u32(at + 8);
    if (!values.has(id)) values.set(id, block.slice(at + 12, length - 4));
    at += 8 + length;
  }
  return values;
}
