import { fillHoles, hullArea } from '../../../services/workers/image/vision/holes';
import { type Raster } from '../../../services/workers/image/vision/raster';

const SIDE = 60;
type Colour = readonly [number, number, number];
const [SKY, SILVER, BUTTON]: readonly [Colour, Colour, Colour] = [
  [120, 170, 230],
  [200, 200, 205],
  [30, 30, 30],
];

/** A square of silver on sky, with a hole of `colour` and `radius` in it that the mask leaves out. */
function pierced(colour: Colour, radius: number): { mask: Uint8Array; raster: Raster } {
  const [mask, rgb] = [new Uint8Array(SIDE * SIDE), new Uint8Array(SIDE * SIDE * 3)];
  for (let at = 0; at < mask.length; at++) {
    const [x, y] = [at % SIDE, Math.floor(at / SIDE)];
    const isThing = x >= 10 && x < 50 && y >= 10 && y < 50;
    const isHole = Math.hypot(x - 30, y - 30) < radius;
    mask[at] = isThing && !isHole ? 1 : 0;
    rgb.set(isHole ? colour : isThing ? SILVER : SKY, at * 3);
  }
  return { mask, raster: { rgb, width: SIDE, height: SIDE } };
}
const centre = (SIDE / 2) * SIDE + SIDE / 2;

describe('an enclosed hole', () => {
  it('is filled where the outside has no such colours', () => {
    const { mask, raster } = pierced(BUTTON, 5);
    const filled = fillHoles(mask, raster);
    expect([filled.mask[centre], filled.doubt]).toEqual([1, 0]);
  });

  it('stays open where the outside looks like it, and makes a thing without dents doubtful', () => {
    const { mask, raster } = pierced(SKY, 7);
    const { mask: open, doubt } = fillHoles(mask, raster);
    expect(open[centre]).toBe(0);
    expect(doubt).toBeGreaterThan(0.15);
  });

  it('deep in a thing is a part of it, also where the outside looks like it', () => {
    const { mask, raster } = pierced(SKY, 4);
    const { mask: filled, doubt } = fillHoles(mask, raster);
    expect([filled[centre], doubt]).toEqual([1, 0]);
  });

  it('near the edge of a large thing stays open', () => {
    const { mask, raster } = pierced(SKY, 4);
    mask.fill(0, 0, 23 * SIDE);
    expect(fillHoles(mask, raster).mask[centre]).toBe(0);
  });

  it('of a ring is an opening: nothing is doubtful', () => {
    const { mask, raster } = pierced(SKY, 15);
    expect(fillHoles(mask, raster)).toEqual({ mask, doubt: 0 });
  });

  it('of a thing with dents is an opening, for example between an arm and a body', () => {
    const { mask, raster } = pierced(SKY, 6);
    for (let y = 0; y < SIDE; y++) if (y < 22 || y >= 38) mask.fill(0, y * SIDE + 22, y * SIDE + 38);
    expect(fillHoles(mask, raster).doubt).toBe(0);
  });
});

it('the hull of a mask goes around all of it', () => {
  const { mask, raster } = pierced(SKY, 6);
  expect(hullArea(mask, raster)).toBe(1_600);
  const triangle = Uint8Array.from({ length: SIDE * SIDE }, (_, at) => (at % SIDE < 30 - Math.floor(at / SIDE) ? 1 : 0));
  // Half of a square of 30, with the outer corners of the steps.
  expect(hullArea(triangle, raster)).toBe(465 + 14.5);
  expect(hullArea(new Uint8Array(SIDE * SIDE), raster)).toBe(0);
});
