import { ServiceError } from '../../services/kit/errors';
import { PageTooComplex } from '../../services/kit/pages/parse-page';
import { ApkRefused, MalformedError } from '../../services/workers/apk/apk-error';
import { KIB, PARSERS } from './parser-table';

/** Set for a longer run. */
const SEEDS = Number(process.env['PARSER_SEEDS'] ?? 16);
/** Parts of the longest input that are measured, each four times the one before. */
const STEPS = [16, 4, 1];
/** Three for each doubling; what grows with the square grows sixteenfold. */
const MAX_GROWTH = 3 ** 2;
/** Milliseconds of CPU. Below it, a measurement is noise; what grows with the square is far above it. */
const NOISE_MS = 25;

/** Refusals are answers; what matters is when they come. */
async function orRefuse(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isRefusal = [ServiceError, PageTooComplex, ApkRefused, MalformedError].some((kind) => error instanceof kind);
    if (!isRefusal) throw error;
  }
}

/** The least CPU of two tries, in milliseconds. */
async function costOf(work: () => unknown): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < 2; round++) {
    const before = process.cpuUsage();
    await orRefuse(work);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

describe('four times the bytes cost about four times the CPU', () => {
  it.each(Object.entries(PARSERS))('of %s', async (_name, { most, grow, parse }) => {
    let slowest = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const input = grow(seed);
      let before: number | undefined;
      for (const step of STEPS) {
        const bytes = input(Math.floor(most / step));
        const allowed = before === undefined ? Infinity : Math.max(before, NOISE_MS) * MAX_GROWTH;
        let cost = await costOf(() => parse(bytes));
        // Once more where it seems too much: a machine that was busy elsewhere breaks one measurement, a parser's growth every one.
        if (cost > allowed) cost = Math.min(cost, await costOf(() => parse(bytes)));
        if (before !== undefined && cost > allowed) {
          throw new Error(
            `seed ${seed}: ${before.toFixed(0)} ms, then ${cost.toFixed(0)} ms for four times the bytes: ${JSON.stringify(bytes.toString('latin1').slice(0, 200))}`,
          );
        }
        before = cost;
      }
      slowest = Math.max(slowest, before ?? 0);
    }
    process.stderr.write(`slowest of ${SEEDS}: ${slowest.toFixed(0)} ms for ${most / KIB} KiB\n`);
  });
});
