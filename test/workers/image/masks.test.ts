import { factsOf, rateMask, type MaskFacts } from '../../../services/workers/image/vision/rate-mask';
import { ratePerson, unopposed } from '../../../services/workers/image/person/rate-person';
import { fillHoles, hullArea } from '../../../services/workers/image/vision/holes';
import { type Raster } from '../../../services/workers/image/vision/raster';
import { thinShare } from '../../../services/workers/image/grabcut/confidence';
import sharp from 'sharp';
import { type Finish, finishCutOut, frameOf } from '../../../services/workers/image/finish-cut-out';

describe('the facts of a mask', () => {
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
});

describe('a mask of a person', () => {
  const portrait: MaskFacts = {
    area: 0.5,
    probability: 0.99,
    softness: 0.1,
    largestPiece: 1,
    height: 0.9,
    sides: { top: 0, bottom: 0.9, left: 0.05, right: 0.3 },
  };

  describe("the people model's mask", () => {
    it('is a success where its edge is hard, also where GrabCut found a part of it', () => {
      expect(ratePerson(portrait, 0.4)).toBeGreaterThan(0.65);
    });

    it('is surer where GrabCut found the same: two engines that know nothing of each other', () => {
      expect(ratePerson(portrait, 1)).toBeCloseTo(0.88);
      expect(ratePerson({ ...portrait, softness: 0.2 }, 0.9)).toBeGreaterThan(0.65);
      expect(ratePerson({ ...portrait, softness: 0.2 }, 0.1)).toBeLessThan(0.65);
    });

    it('is a bust where it rises from the bottom between shoulders that leave both sides', () => {
      const bust = { ...portrait, sides: { ...portrait.sides, left: 0.3, right: 0.4 } };
      expect(ratePerson(bust, 0.4)).toBeGreaterThan(0.65);
      expect(ratePerson({ ...bust, sides: { ...bust.sides, right: 0.5 } }, 0.4)).toBe(0);
    });

    it("leaves GrabCut's confidence where both found the same, and little where that found a part of it", () => {
      expect(unopposed(portrait, 1)).toBe(1);
      expect(unopposed(portrait, 0.8)).toBeGreaterThan(0.95);
      expect(unopposed(portrait, 0.4)).toBeLessThan(0.7);
    });

    it('does not oppose GrabCut where it sees nothing that it knows', () => {
      expect(unopposed({ ...portrait, softness: 3 }, 0)).toBe(1);
    });

    it.each<[string, Partial<MaskFacts>]>([
      ['a speck', { area: 0.04 }],
      ['ground from the left side to the right', { height: 0.4, sides: { ...portrait.sides, left: 0.25 } }],
      ['wide, and leaves the bottom', { sides: { ...portrait.sides, left: 0.2, bottom: 0.5 } }],
      ['soft: it sees nothing that it knows', { softness: 3 }],
    ])('is none that is %s', (_what, facts) => {
      expect(ratePerson({ ...portrait, ...facts }, 1)).toBe(0);
    });
  });
});

describe('holes in a mask', () => {
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
});

describe('thin parts of a mask', () => {
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
});

describe('a picture that is cut out', () => {
  const SIZE = { width: 80, height: 60 };
  /** A red block from (20, 10) to (59, 29), and a speck that nobody sees. */
  async function cutOut(): Promise<Buffer> {
    const rgba = Buffer.alloc(SIZE.width * SIZE.height * 4);
    for (let y = 10; y < 30; y++) for (let x = 20; x < 60; x++) rgba.set([200, 40, 40, 255], (y * SIZE.width + x) * 4);
    rgba.set([0, 0, 0, 12], (59 * SIZE.width + 79) * 4);
    return sharp(rgba, { raw: { ...SIZE, channels: 4 } })
      .png()
      .toBuffer();
  }
  const finish = async (changes: Partial<Finish>) =>
    finishCutOut(await cutOut(), SIZE, { format: 'png', maxSide: 0, crop: false, background: undefined, ...changes });
  const pixelAt = async (image: Buffer, left: number, top: number) => [
    ...(await sharp(image).ensureAlpha().extract({ left, top, width: 1, height: 1 }).raw().toBuffer()),
  ];

  it('a cut-out of which nothing else is wanted keeps its bytes', async () => {
    expect(await finish({})).toEqual({ image: await cutOut(), mime: 'image/png', ...SIZE });
  });

  it('cropping leaves what can be seen', async () => {
    const { image, ...facts } = await finish({ crop: true });
    expect(facts).toEqual({ mime: 'image/png', width: 40, height: 20 });
    expect(await sharp(image).metadata()).toMatchObject({ width: 40, height: 20, hasAlpha: true });
    expect(await pixelAt(image, 0, 0)).toEqual([200, 40, 40, 255]);
  });

  it('the longer side is shrunk, after cropping, and never enlarged', async () => {
    expect(await finish({ maxSide: 40 })).toMatchObject({ width: 40, height: 30 });
    expect(await finish({ maxSide: 20, crop: true })).toMatchObject({ width: 20, height: 10 });
    expect(await finish({ maxSide: 500 })).toMatchObject(SIZE);
  });

  it('a colour stands where the background was', async () => {
    const { image } = await finish({ background: '#00ff80' });
    expect((await sharp(image).metadata()).hasAlpha).toBe(false);
    expect([await pixelAt(image, 0, 0), await pixelAt(image, 30, 20)]).toEqual([
      [0, 255, 128, 255],
      [200, 40, 40, 255],
    ]);
  });

  it('WebP keeps transparency, and its limit of a side is told before anything is encoded', async () => {
    const { image, mime } = await finish({ format: 'webp' });
    expect([mime, (await sharp(image).metadata()).format, (await pixelAt(image, 0, 0))[3]]).toEqual(['image/webp', 'webp', 0]);
    const size = { width: 17_000, height: 16 };
    const long = await sharp({ create: { ...size, channels: 4, background: '#ff000080' } })
      .png()
      .toBuffer();
    const webp = { format: 'webp', maxSide: 0, crop: false, background: undefined } as const;
    await expect(finishCutOut(long, size, webp)).rejects.toMatchObject({ problem: 'invalid_request' });
    expect(await finishCutOut(long, size, { ...webp, maxSide: 8_000 })).toMatchObject({ width: 8_000, mime: 'image/webp' });
  });

  it('a picture of which nothing can be seen is not cropped', () => {
    expect(frameOf(new Uint8Array(12).fill(12), { width: 4, height: 3 })).toEqual({ left: 0, top: 0, width: 4, height: 3 });
  });
});
