import { barrierDistance } from '../../../services/workers/image/grabcut/barrier-distance';
import { chooseGuess, type Guess } from '../../../services/workers/image/grabcut/confidence';
import { findForeground } from '../../../services/workers/image/grabcut/find-foreground';
import { gradientOf } from '../../../services/workers/image/grabcut/judge-mask';
import { toLab } from '../../../services/workers/image/grabcut/lab';
import { type OpenCv } from '../../../services/workers/image/vision/open-cv';
import { type Raster } from '../../../services/workers/image/vision/raster';
import { FOREGROUND } from '../../../services/workers/image/grabcut/seeds';

// The search moves outlines only where the longer side has 128 pixels.
const [WIDTH, HEIGHT] = [128, 64];
const SIZE = WIDTH * HEIGHT;

/** A dark rectangle of half the sides on a light ground. */
function blockOnPlain(): Raster {
  const inside = rectangle([8, 8, 24, 24]);
  const rgb = Uint8Array.from({ length: SIZE * 3 }, (_, at) => (inside[Math.floor(at / 3)] === 1 ? 40 : 230));
  return { rgb, width: WIDTH, height: HEIGHT };
}

/** An OpenCV whose cuts are the guesses themselves, unless `change` makes something else of them. */
function countingCv(change: (cut: number, mask: Uint8Array) => void = () => undefined): { cv: OpenCv; cuts: () => number } {
  let cuts = 0;
  class Mat {
    readonly data: Uint8Array;
    readonly data32F = new Float32Array();
    readonly matSize = [];
    constructor(rows = 0, columns = 0, type = 1) {
      this.data = new Uint8Array(rows * columns * type);
    }
    delete(): void {}
  }
  class Rect {}
  const noNet = (): never => {
    throw new Error('no network is used here');
  };
  const cv: OpenCv = {
    Mat,
    Rect,
    Size: Rect,
    Scalar: Rect,
    CV_8UC1: 1,
    CV_8UC3: 3,
    CV_32FC3: 3,
    CV_32F: 1,
    GC_INIT_WITH_MASK: 1,
    setRNGSeed: () => undefined,
    grabCut: (_image, mask) => change(++cuts, mask.data),
    blobFromImage: noNet,
    readNetFromTFLite1: noNet,
    readNetFromONNX1: noNet,
    exceptionFromPtr: noNet,
  };
  return { cv, cuts: () => cuts };
}

describe('the search for a foreground', () => {
  const wanted = { clear: new Uint8Array(SIZE), leastConfidence: 0 };
  const block = rectangle([8, 8, 24, 24]);
  const found = findForeground(countingCv((_cut, mask) => mask.set(block)).cv, blockOnPlain(), wanted);

  it('tries the portrait where they differ', () => {
    const seen: Uint8Array[] = [];
    // What GrabCut is asked last but one, before the refining, is the portrait: the only guess with pixels that are surely foreground.
    const { cv } = countingCv((cut, mask) => {
      seen.push(mask.slice());
      if (cut === 2) mask.fill(3, 0, mask.length / 2);
    });
    findForeground(cv, blockOnPlain(), wanted);
    expect(seen[4]?.includes(FOREGROUND)).toBe(true);
    expect(seen.slice(0, 4).some((mask) => mask.includes(FOREGROUND))).toBe(false);
  });

  it('does not refine what is less clear than was asked for', () => {
    const { cv, cuts } = countingCv();
    const found = findForeground(cv, blockOnPlain(), { ...wanted, leastConfidence: 1.01 });
    expect(found).toEqual({ alpha: undefined, confidence: expect.any(Number) });
    // Three guesses by colour and one by the centre; the portrait is left out where those by colour agree.
    expect(cuts()).toBe(4);
  });

  it('is sure of what it finds again from a larger and from a smaller outline, and of nothing else', () => {
    expect(found.confidence).toBeGreaterThan(0.9);
    // After the four guesses, this one leaves each outline where it was moved to.
    const unsteady = countingCv((cut, mask) => cut <= 4 && mask.set(block));
    expect(findForeground(unsteady.cv, blockOnPlain(), wanted).confidence).toBe(0);
  });

  it.each([
    ['is clearer', 1, 'selfie_segmentation'],
    ['is not', 0.4, 'grabcut'],
  ])('takes the mask of the people model where that %s', (_what, value, engine) => {
    const { cv } = countingCv((_cut, mask) => mask.fill(0, mask.length / 2));
    const findPerson = () => ({ alpha: Float32Array.from(block, (inside) => inside * value), width: WIDTH, height: HEIGHT });
    expect(findForeground(cv, blockOnPlain(), { ...wanted, findPerson })).toMatchObject({ engine });
  });

  it('gives the edge of the foreground a soft alpha, and nothing else', () => {
    const alphaAt = (x: number, y: number): number => found.alpha?.[y * WIDTH + x] ?? Number.NaN;
    expect([alphaAt(2, 2), alphaAt(WIDTH / 2, HEIGHT / 2)]).toEqual([0, 1]);
    expect(alphaAt(WIDTH / 4 - 1, HEIGHT / 2)).toBeLessThan(0.1);
    expect(alphaAt(WIDTH / 4, HEIGHT / 2)).toBeGreaterThan(0.9);
  });
});

/** 1 in the rectangle, whose sides are in 32nds of the picture's. */
function rectangle([left, top, right, bottom]: readonly [number, number, number, number]): Uint8Array {
  return Uint8Array.from({ length: SIZE }, (_, at) => {
    const [x, y] = [((at % WIDTH) * 32) / WIDTH, (Math.floor(at / WIDTH) * 32) / HEIGHT];
    return x >= left && x < right && y >= top && y < bottom ? 1 : 0;
  });
}

describe('the barrier between a pixel and the border', () => {
  it('is high behind an outline and low in a background that changes slowly', () => {
    // From dark to light without an edge, and a square with one.
    const lab = new Float32Array(SIZE * 3);
    const square = rectangle([12, 12, 20, 20]);
    for (let at = 0; at < square.length; at++) lab[at * 3] = square[at] === 1 ? 95 : ((at % WIDTH) * 64) / WIDTH;
    const border = Array.from({ length: SIZE }, (_, at) => at).filter((at) => at < WIDTH || at >= SIZE - WIDTH);
    const distance = barrierDistance(lab, { width: WIDTH, height: HEIGHT }, border);
    expect(distance[(HEIGHT / 4) * WIDTH + WIDTH / 2]).toBeLessThan(5);
    expect(distance[(HEIGHT / 2) * WIDTH + WIDTH / 2]).toBeGreaterThan(30);
  });
});

describe('the choice among guesses', () => {
  const raster = blockOnPlain();
  const gradient = gradientOf(toLab(raster), raster);
  const distance = Float32Array.from(rectangle([8, 8, 24, 24]), (value) => value * 100);
  const guess = (mask: Uint8Array, score: number): Guess => ({ mask, score, isBlind: false });
  const [whole, part] = [rectangle([8, 8, 24, 24]), rectangle([8, 8, 24, 12])];

  it('takes the whole of an object, and not a part whose edges are as strong', () => {
    expect(chooseGuess([guess(part, 1), guess(whole, 1), guess(whole, 1)], { raster, gradient, distance })?.mask).toBe(whole);
  });

  it('is less sure of a part, even where all guesses come to it, because the rest stands out as well', () => {
    const sure = chooseGuess([guess(whole, 1), guess(whole, 1)], { raster, gradient, distance })?.confidence ?? 0;
    const unsure = chooseGuess([guess(part, 1), guess(part, 1)], { raster, gradient, distance })?.confidence ?? 1;
    expect(sure).toBeGreaterThan(0.9);
    expect(unsure).toBeLessThan(0.3);
  });

  it('is as sure as the guess that differs most lets it be', () => {
    const chosen = chooseGuess([guess(whole, 1), guess(whole, 1), guess(part, 1)], { raster, gradient, distance });
    expect(chosen?.confidence).toBeLessThan(0.3);
  });

  it('takes none that is not believable', () => {
    expect(chooseGuess([guess(whole, 0)], { raster, gradient, distance })).toBeUndefined();
  });
});
