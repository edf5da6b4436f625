import { findForeground } from '../../../services/workers/image/grabcut/find-foreground';
import { type OpenCv } from '../../../services/workers/image/grabcut/open-cv';
import { type Raster } from '../../../services/workers/image/grabcut/raster';
import { FOREGROUND } from '../../../services/workers/image/grabcut/seeds';

const SIDE = 32;

/** A dark square of half the side on a light ground. */
function squareOnPlain(): Raster {
  const rgb = new Uint8Array(SIDE * SIDE * 3).fill(230);
  for (let y = SIDE / 4; y < (SIDE * 3) / 4; y++) rgb.fill(40, (y * SIDE + SIDE / 4) * 3, (y * SIDE + (SIDE * 3) / 4) * 3);
  return { rgb, width: SIDE, height: SIDE };
}

/** An OpenCV whose cuts are the guesses themselves, unless `change` makes something else of them. */
function countingCv(change: (cut: number, mask: Uint8Array) => void = () => undefined): { cv: OpenCv; cuts: () => number } {
  let cuts = 0;
  class Mat {
    readonly data: Uint8Array;
    constructor(rows = 0, columns = 0, type = 1) {
      this.data = new Uint8Array(rows * columns * type);
    }
    delete(): void {}
  }
  class Rect {}
  const cv: OpenCv = {
    Mat,
    Rect,
    CV_8UC1: 1,
    CV_8UC3: 3,
    GC_INIT_WITH_MASK: 1,
    setRNGSeed: () => undefined,
    grabCut: (_image, mask) => change(++cuts, mask.data),
  };
  return { cv, cuts: () => cuts };
}

describe('the search for a foreground', () => {
  const clear = new Uint8Array(SIDE * SIDE);

  test('leaves the portrait out where the guesses by colour agree', () => {
    const { cv, cuts } = countingCv();
    expect(findForeground(cv, squareOnPlain(), clear)).toBeDefined();
    // Three guesses by colour, one by the centre, and the refining.
    expect(cuts()).toBe(5);
  });

  test('tries the portrait where they differ', () => {
    const seen: Uint8Array[] = [];
    // What GrabCut is asked last but one, before the refining, is the portrait: the only guess with pixels that are surely foreground.
    const { cv } = countingCv((cut, mask) => {
      seen.push(mask.slice());
      if (cut === 2) mask.fill(3, 0, mask.length / 2);
    });
    findForeground(cv, squareOnPlain(), clear);
    expect(seen[4]?.includes(FOREGROUND)).toBe(true);
    expect(seen.slice(0, 4).some((mask) => mask.includes(FOREGROUND))).toBe(false);
  });

  test('gives the edge of the foreground a soft alpha, and nothing else', () => {
    const found = findForeground(countingCv().cv, squareOnPlain(), clear);
    const alphaAt = (x: number, y: number): number => found?.alpha[y * SIDE + x] ?? Number.NaN;
    expect([alphaAt(2, 2), alphaAt(SIDE / 2, SIDE / 2)]).toEqual([0, 1]);
    expect(alphaAt(SIDE / 4 - 1, SIDE / 2)).toBeLessThan(0.1);
    expect(alphaAt(SIDE / 4, SIDE / 2)).toBeGreaterThan(0.9);
  });
});
