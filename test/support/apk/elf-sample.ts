import { u16, u32, u64 } from './little-endian';

const EXECUTABLE = 2;
const SHARED = 3;

export interface ElfOptions {
  readonly bits?: 32 | 64;
  readonly isShared?: boolean;
  /** Flags of the stack's segment; null for none. */
  readonly stack?: number | null;
  readonly hasRelro?: boolean;
  /** Names of functions that it takes from others. */
  readonly names?: readonly string[];
}

/** A native library without code, as small as the rules about it need. */
export function elfSample(options: ElfOptions = {}): Buffer {
  const { bits = 64, isShared = true, stack = 6, hasRelro = true, names = ['__stack_chk_fail'] } = options;
  const word = (value: number): Buffer => (bits === 64 ? u64(value) : u32(value));
  const [headBytes, segmentBytes] = bits === 64 ? [64, 56] : [52, 32];
  const strings = Buffer.from(`\0${names.map((name) => `${name}\0`).join('')}`);
  const count = 2 + (stack === null ? 0 : 1) + (hasRelro ? 1 : 0);
  const stringsAt = headBytes + count * segmentBytes;
  const dynamicAt = stringsAt + strings.length;
  // The loader puts the file at an address of its own.
  const BASE = 0x10000;
  const dynamic = Buffer.concat([5, BASE + stringsAt, 10, strings.length, 0, 0].map(word));
  const segment = (type: number, flags: number, at: number, length: number): Buffer => {
    const places = [word(at), word(BASE + at), word(BASE + at), word(length), word(length)];
    return Buffer.concat(bits === 64 ? [u32(type, flags), ...places, word(1)] : [u32(type), ...places, u32(flags), word(1)]);
  };
  const head = [
    Buffer.from([0x7f, 0x45, 0x4c, 0x46, bits / 32, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    u16(isShared ? SHARED : EXECUTABLE, 183),
    u32(1),
    word(0),
    word(headBytes),
    word(0),
    u32(0),
    u16(headBytes, segmentBytes, count, 0, 0, 0),
  ];
  return Buffer.concat([
    ...head,
    segment(1, 5, 0, dynamicAt + dynamic.length),
    segment(2, 6, dynamicAt, dynamic.length),
    ...(stack === null ? [] : [segment(0x6474e551, stack, 0, 0)]),
    ...(hasRelro ? [segment(0x6474e552, 4, 0, 0)] : []),
    strings,
    dynamic,
  ]);
}
