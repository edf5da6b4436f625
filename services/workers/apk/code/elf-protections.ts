import { ByteReader } from '../bytes/byte-reader';

/** Protections that a native library may lack. Each has its own rule. */
export const UNPROTECTED = ['executable_stack', 'fixed_address', 'no_canary', 'no_relro'] as const;

export type Unprotected = (typeof UNPROTECTED)[number];

const MAGIC = 0x464c457f;
const LITTLE_ENDIAN = 1;
const EXECUTABLE = 2;
const SHARED = 3;
const LOADED = 1;
const DYNAMIC = 2;
const STACK = 0x6474e551;
const RELRO = 0x6474e552;
const MAY_RUN = 1;
const STRINGS = 5;
const STRINGS_BYTES = 10;
/** Name of the function that compilers call when a canary was overwritten, with the ends of the texts around it. */
const CANARY = Buffer.from('\0__stack_chk_fail\0');

/** Offsets that differ between 32-bit and 64-bit files (System V ABI, chapters 4 and 5). A word has four or eight bytes. */
const LAYOUTS = {
  1: { word: 4, headers: 28, size: 42, count: 44, flags: 24, offset: 4, address: 8, length: 16, entry: 8 },
  2: { word: 8, headers: 32, size: 54, count: 56, flags: 4, offset: 8, address: 16, length: 32, entry: 16 },
} as const;

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly length: number;
}

/**
 * Protections that an ELF file lacks; undefined for bytes that Android would not load as a library.
 * @param what names the file in errors
 * @throws MalformedError when a table is cut short
 */
export function unprotectedParts(bytes: Buffer, what: string): Unprotected[] | undefined {
  const reader = new ByteReader(bytes, what);
  const kind = bytes.length > 52 && reader.u32(0) === MAGIC && reader.u8(5) === LITTLE_ENDIAN ? reader.u8(4) : 0;
  if (kind !== 1 && kind !== 2) return undefined;
  const type = reader.u16(16);
  if (type !== EXECUTABLE && type !== SHARED) return undefined;
  const layout = LAYOUTS[kind];
  const word = (at: number): number => (layout.word === 4 ? reader.u32(at) : reader.u64(at));
  const [first, size, count] = [word(layout.headers), reader.u16(layout.size), reader.u16(layout.count)];
  const segments = Array.from({ length: count }, (_each, index): Segment => {
    const at = first + index * size;
    const [flags, offset, address, length] = [
      reader.u32(at + layout.flags), word(at + layout.offset), word(at + layout.address), word(at + layout.length),
    ]; // prettier-ignore
    return { type: reader.u32(at), flags, offset, address, length };
  });
  const stack = segments.find((each) => each.type === STACK);
  const names = dynamicNames(segments, { reader, word, entry: layout.entry });
  return [
    ...(stack === undefined || stack.flags & MAY_RUN ? (['executable_stack'] as const) : []),
    ...(type === EXECUTABLE ? (['fixed_address'] as const) : []),
    ...(names.includes(CANARY) ? [] : (['no_canary'] as const)),
    ...(segments.some((each) => each.type === RELRO) ? [] : (['no_relro'] as const)),
  ];
}

/** Names of the functions that the file imports and exports; empty if it lists none. */
function dynamicNames(
  segments: readonly Segment[],
  { reader, word, entry }: { readonly reader: ByteReader; readonly word: (at: number) => number; readonly entry: number },
): Buffer {
  const dynamic = segments.find(({ type }) => type === DYNAMIC);
  if (!dynamic) return Buffer.alloc(0);
  let [address, length] = [0, 0];
  for (let at = dynamic.offset; at + entry <= dynamic.offset + dynamic.length; at += entry) {
    const tag = word(at);
    if (tag === 0) break;
    if (tag === STRINGS) address = word(at + entry / 2);
    if (tag === STRINGS_BYTES) length = word(at + entry / 2);
  }
  const home = segments.find((each) => each.type === LOADED && each.address <= address && address < each.address + each.length);
  return home ? reader.slice(home.offset + address - home.address, length) : Buffer.alloc(0);
}
