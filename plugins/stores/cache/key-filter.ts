/** Bits per key that the filter is sized for, and the number of bits that one key sets. A full filter has 0.4 % false positives. */
const BITS_PER_KEY = 12;
const BITS_SET = 6;

/** The first 8 bytes of a key's hash as two numbers of 32 bits. */
export interface HashStart {
  readonly high: number;
  readonly low: number;
}

/** @param hash at least 16 hex digits */
export function hashStartOf(hash: string): HashStart {
  return { high: Number.parseInt(hash.slice(0, 8), 16), low: Number.parseInt(hash.slice(8, 16), 16) };
}

/**
 * A Bloom filter over the hashes of keys: 1.5 MB for a million keys. It finds every key that was added, and a small share of other keys.
 * That share grows when more keys are added than the filter is sized for.
 */
export class KeyHashFilter {
  private readonly bits: Uint32Array;
  private readonly bitCount: number;
  private added = 0;

  /** @param capacity the number of keys that it is sized for */
  constructor(readonly capacity: number) {
    this.bits = new Uint32Array(Math.ceil((capacity * BITS_PER_KEY) / 32));
    this.bitCount = this.bits.length * 32;
  }

  /** Number of keys added, except those that looked like keys already in the filter. */
  get size(): number {
    return this.added;
  }

  get bytes(): number {
    return this.bits.byteLength;
  }

  get isFull(): boolean {
    return this.added > this.capacity;
  }

  /** The hash is uniform already: its two halves are the two hash functions of double hashing. */
  add({ high, low }: HashStart): void {
    let isNew = false;
    let place = high;
    for (let count = 0; count < BITS_SET; count++) {
      const bit = place % this.bitCount;
      const word = bit >>> 5;
      const mask = 1 << (bit & 31);
      const before = this.bits[word] ?? 0;
      if ((before & mask) === 0) {
        this.bits[word] = before | mask;
        isNew = true;
      }
      place += low + 1;
    }
    if (isNew) this.added += 1;
  }

  /** False when the key was never added. */
  mayHave({ high, low }: HashStart): boolean {
    let place = high;
    for (let count = 0; count < BITS_SET; count++) {
      const bit = place % this.bitCount;
      if (((this.bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
      place += low + 1;
    }
    return true;
  }
}
