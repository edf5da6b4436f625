import { thinShare } from '../../../services/workers/image/vision/thin-parts';

const SIDE = 100;
/** 1 in any of the rectangles: left, top, right, bottom. */
function maskOf(...rectangles: (readonly [number, number, number, number])[]): Uint8Array {
  return Uint8Array.from({ length: SIDE * SIDE }, (_, at) => {
    const [x, y] = [at % SIDE, Math.floor(at / SIDE)];
    return rectangles.some(([left, top, right, bottom]) => x >= left && x < right && y >= top && y < bottom) ? 1 : 0;
  });
}
const shareOf = (...rectangles: (readonly [number, number, number, number])[]): number =>
  thinShare(maskOf(...rectangles), { width: SIDE, height: SIDE });

describe('the share of thin parts', () => {
  it('is what a strip of a horizon has of a tree', () => {
    expect(shareOf([30, 20, 70, 60], [0, 56, 100, 60])).toBeCloseTo(240 / 1840);
  });

  it('is 0 in a thing without them, also where the picture cuts it off, and in an empty mask', () => {
    expect(shareOf([30, 20, 70, 60])).toBe(0);
    expect(shareOf([0, 20, 70, 100])).toBe(0);
    expect(shareOf()).toBe(0);
  });
});
