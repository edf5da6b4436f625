import { distanceTo, groupColours } from './colour-model';
import { type Size } from './raster';
import { type Side, SIDES, stripOf, stripThickness } from './sides';

/** A border pixel this many spreads from the colours of the other three borders is not background. */
const UNLIKE = 3.5;
/** An object that is cut off covers at least this share of the side, */
const MIN_RUN = 0.08;
/** and in one piece: unlike pixels scattered along a side are a busy background. */
const MIN_WHOLE = 0.75;
/** Pixels; shorter interruptions of a run do not end it. */
const GAP = 3;

/** Length of the longest run of true, and how many are true in all. */
function runsOf(line: readonly boolean[]): { longest: number; total: number } {
  let [run, gap, longest, total] = [0, 0, 0, 0];
  for (const isSet of line) {
    if (isSet) {
      run++;
      total++;
      gap = 0;
    } else if (++gap > GAP) run = 0;
    longest = Math.max(longest, run);
  }
  return { longest, total };
}

function isCutOffAt(side: Side, lab: Float32Array, size: Size): boolean {
  const area = { ...size, thickness: stripThickness(size) };
  const otherSides = SIDES.filter((each) => each !== side);
  const others = groupColours(lab, stripOf(otherSides, area));
  const isHorizontal = side === 'top' || side === 'bottom';
  const unlike = new Array<number>(isHorizontal ? size.width : size.height).fill(0);
  for (const at of stripOf([side], area)) {
    const index = isHorizontal ? at % size.width : Math.floor(at / size.width);
    if (distanceTo(others, lab, at) > UNLIKE) unlike[index] = (unlike[index] ?? 0) + 1;
  }
  const { longest, total } = runsOf(unlike.map((count) => count > area.thickness / 2));
  return longest > MIN_RUN * unlike.length && longest >= MIN_WHOLE * total;
}

/** The sides where the object seems to leave the picture: their border is not sure background. At most two. */
export function findOpenSides(lab: Float32Array, size: Size): ReadonlySet<Side> {
  const open = SIDES.filter((side) => isCutOffAt(side, lab, size));
  return new Set(open.length > 2 ? [] : open);
}
