import { analyzeBytes } from './apk-worker';

export interface FuzzPart {
  readonly name: string;
  readonly data: Buffer;
}

export interface FuzzOptions {
  /** A whole APK: half of the rounds change it anywhere. */
  readonly whole: Buffer;
  /** Files of an APK: the other rounds change one of them. */
  readonly parts: readonly FuzzPart[];
  rebuild(this: void, parts: FuzzPart[]): Buffer;
  readonly rounds: number;
  readonly seed: number;
}

export interface FuzzResult {
  readonly reports: number;
  readonly refusals: number;
  /** What was thrown besides refusals, with the round that did it. */
  readonly failures: readonly string[];
  readonly slowestMs: number;
}

/** mulberry32: small, seeded, the same everywhere. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Numbers that formats stumble over. */
const NASTY = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff];

/** One to eight changes: bits, bytes, numbers, cuts, copies. */
export function mutate(bytes: Buffer, random: (below: number) => number): Buffer {
  let changed = Buffer.from(bytes);
  for (let count = 1 + random(8); count > 0 && changed.length > 8; count--) {
    const at = random(changed.length - 4);
    switch (random(6)) {
      case 0:
        changed[at] = (changed[at] ?? 0) ^ (1 << random(8));
        break;
      case 1:
        changed[at] = random(256);
        break;
      case 2:
        changed.writeUInt32LE(NASTY[random(NASTY.length)] ?? 0, at);
        break;
      case 3:
        changed.writeUInt16LE((NASTY[random(NASTY.length)] ?? 0) & 0xffff, at);
        break;
      case 4:
        changed.copy(changed, at, random(changed.length - 4), random(changed.length));
        break;
      default:
        if (random(10) === 0) changed = changed.subarray(0, at);
    }
  }
  return changed;
}

/** Runs the whole analysis over mutations. The same seed makes the same mutations. */
export async function fuzzAnalysis({ whole, parts, rebuild, rounds, seed }: FuzzOptions): Promise<FuzzResult> {
  const random = createRandom(seed);
  const failures: string[] = [];
  let [reports, refusals, slowestMs] = [0, 0, 0];
  for (let round = 0; round < rounds; round++) {
    const target = random(2) === 0 ? -1 : random(parts.length);
    const bytes =
      target < 0
        ? mutate(whole, random)
        : rebuild(parts.map((part, index) => (index === target ? { ...part, data: mutate(part.data, random) } : part)));
    const startedAt = performance.now();
    try {
      JSON.stringify(await analyzeBytes(bytes));
      reports++;
    } catch (error) {
      if (error instanceof Error && error.name === 'ApkRefused') refusals++;
      else failures.push(`round ${round}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  }
  return { reports, refusals, failures: failures.slice(0, 10), slowestMs };
}
