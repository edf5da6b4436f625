/** A group of similar colours in CIE L*a*b*. */
export interface ColourGroup {
  readonly centre: readonly [number, number, number];
  /** Root mean square distance of its members. */
  readonly spread: number;
  /** Share of all samples, from 0 to 1. */
  readonly share: number;
}

const MAX_GROUPS = 8;
const ROUNDS = 8;
/** Samples closer than this to a group's centre need no group of their own. A difference of 2.3 is just noticeable. */
const SAME_COLOUR = 3;
/** A new group starts at the sample that is farther away than all but this share, so that a speck does not start a group. */
const SPECKS = 0.01;
/** Minimum share of a group. Smaller groups are due to chance. */
const MIN_SHARE = 0.01;
/** Added to every spread for camera noise. */
const NOISE = 3;

type Centre = [number, number, number];

function squared(lab: Float32Array, at: number, centre: readonly [number, number, number]): number {
  const dl = (lab[at * 3] ?? 0) - centre[0];
  const da = (lab[at * 3 + 1] ?? 0) - centre[1];
  const db = (lab[at * 3 + 2] ?? 0) - centre[2];
  return dl * dl + da * da + db * db;
}

function colourAt(lab: Float32Array, at: number): Centre {
  return [lab[at * 3] ?? 0, lab[at * 3 + 1] ?? 0, lab[at * 3 + 2] ?? 0];
}

/** Chooses the farthest samples first, without chance, so that the same image always gives the same groups. */
function firstCentres(lab: Float32Array, samples: readonly number[]): Centre[] {
  const [first] = samples;
  if (first === undefined) return [];
  const centres = [colourAt(lab, first)];
  const distances = new Float64Array(samples.length).fill(Infinity);
  while (centres.length < MAX_GROUPS) {
    const latest = centres.at(-1) ?? [0, 0, 0];
    for (let index = 0; index < distances.length; index++) {
      distances[index] = Math.min(distances[index] ?? 0, squared(lab, samples[index] ?? 0, latest));
    }
    const far = distances.toSorted()[distances.length - 1 - Math.floor(distances.length * SPECKS)] ?? 0;
    if (far < SAME_COLOUR ** 2) break;
    centres.push(colourAt(lab, samples[distances.indexOf(far)] ?? 0));
  }
  return centres;
}

function nearestOf(lab: Float32Array, at: number, centres: readonly Centre[]): number {
  let [nearest, least, index] = [0, Infinity, 0];
  for (const centre of centres) {
    const distance = squared(lab, at, centre);
    if (distance < least) [nearest, least] = [index, distance];
    index++;
  }
  return nearest;
}

/** Groups the colours of some pixels (k-means). */
export function groupColours(lab: Float32Array, samples: readonly number[]): readonly ColourGroup[] {
  let centres = firstCentres(lab, samples);
  let groups: ColourGroup[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const sums = centres.map((centre) => ({ centre, l: 0, a: 0, b: 0, count: 0, squares: 0 }));
    for (const at of samples) {
      const sum = sums[nearestOf(lab, at, centres)];
      if (!sum) continue;
      sum.l += lab[at * 3] ?? 0;
      sum.a += lab[at * 3 + 1] ?? 0;
      sum.b += lab[at * 3 + 2] ?? 0;
      sum.count++;
      sum.squares += squared(lab, at, sum.centre);
    }
    const filled = sums.filter(({ count }) => count > 0);
    groups = filled.map(({ l, a, b, count, squares }) => ({
      centre: [l / count, a / count, b / count],
      spread: Math.sqrt(squares / count),
      share: count / samples.length,
    }));
    centres = groups.map(({ centre }) => [...centre]);
  }
  return groups.filter(({ share }) => share >= MIN_SHARE);
}

/** The distance of one pixel to the nearest group, in units of that group's spread. 0 without groups. */
export function distanceTo(groups: readonly ColourGroup[], lab: Float32Array, at: number): number {
  let least = Infinity;
  for (const { centre, spread } of groups) {
    const scale = NOISE + spread;
    least = Math.min(least, squared(lab, at, centre) / (scale * scale));
  }
  return groups.length === 0 ? 0 : Math.sqrt(least);
}

const BINS = 256;

/** The value that splits a histogram into the two most distinct halves (Otsu's method). 1 when all values are 0. */
export function splitValue(values: Float32Array): number {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, value);
  if (largest === 0) return 1;
  const histogram = new Float64Array(BINS);
  for (const value of values) {
    const bin = Math.min(BINS - 1, Math.floor((value / largest) * BINS));
    histogram[bin] = (histogram[bin] ?? 0) + 1;
  }
  const total = histogram.reduce((sum, count, bin) => sum + count * bin, 0);
  let [below, belowSum, best, split] = [0, 0, 0, 0];
  histogram.forEach((count, bin) => {
    below += count;
    belowSum += count * bin;
    const above = values.length - below;
    if (below === 0 || above === 0) return;
    const variance = below * above * (belowSum / below - (total - belowSum) / above) ** 2;
    if (variance > best) [best, split] = [variance, bin];
  });
  return ((split + 1) / BINS) * largest;
}
