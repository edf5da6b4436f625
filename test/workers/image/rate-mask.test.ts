import { factsOf, rateMask } from '../../../services/workers/image/vision/rate-mask';

const SIDE = 100;
const size = { width: SIDE, height: SIDE };

/** Alpha by the pixel's place. */
const maskOf = (alphaAt: (x: number, y: number) => number): Float32Array =>
  Float32Array.from({ length: SIDE * SIDE }, (_, at) => alphaAt(at % SIDE, Math.floor(at / SIDE)));
const rate = (alphaAt: (x: number, y: number) => number): number | undefined => rateMask(factsOf(maskOf(alphaAt), size));
const isIn = (x: number, y: number, [left, top, right, bottom]: readonly [number, number, number, number]): boolean =>
  x >= left && x < right && y >= top && y < bottom;
const block =
  (...sides: [number, number, number, number]) =>
  (x: number, y: number) =>
    isIn(x, y, sides) ? 1 : 0;

describe('the rule for every engine', () => {
  it.each<[string, (x: number, y: number) => number]>([
    ['a thing in the middle', block(30, 30, 70, 70)],
    ['a thing with a speck beside it', (x, y) => Math.max(block(30, 30, 70, 70)(x, y), block(5, 5, 9, 9)(x, y))],
  ])('leaves an engine its confidence in %s', (_what, alphaAt) => {
    expect(rate(alphaAt)).toBe(1);
  });

  it.each<[string, (x: number, y: number) => number]>([
    ['nothing', () => 0],
    ['a haze under a half', () => 0.4],
    ['everything', () => 1],
  ])('knows no cut-out in %s', (_what, alphaAt) => {
    expect(rate(alphaAt)).toBeUndefined();
  });

  it.each<[string, (x: number, y: number) => number]>([
    ['a mask that is sure of no pixel', (x, y) => block(30, 30, 70, 70)(x, y) * 0.6],
    ['a mask that is soft all over', (x) => x / SIDE],
    ['scattered pieces', (x, y) => (x % 20 < 8 && y % 20 < 8 ? 1 : 0)],
    ['a frame around the picture', (x, y) => 1 - block(20, 20, 80, 80)(x, y)],
  ])('takes certainty from %s', (_what, alphaAt) => {
    expect(rate(alphaAt)).toBeLessThan(0.65);
  });
});

it('facts of a mask are its area, probability, softness, wholeness and height, and the sides that it covers', () => {
  const facts = factsOf(
    maskOf((x, y) => Math.max(block(0, 50, 40, 100)(x, y), 0.6 * block(60, 0, 100, 10)(x, y))),
    size,
  );
  expect(facts.area).toBeCloseTo(0.24);
  expect(facts.probability).toBeCloseTo((2_000 + 400 * 0.6) / 2_400);
  expect(facts.softness).toBeCloseTo(0.2);
  expect(facts.largestPiece).toBeCloseTo(2_000 / 2_400);
  expect(facts.height).toBe(1);
  expect(factsOf(maskOf(block(20, 30, 80, 60)), size).height).toBeCloseTo(0.7);
  expect(facts.sides).toEqual({ top: 0.4, bottom: 0.4, left: 0.5, right: 0.1 });
});
