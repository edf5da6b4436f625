import { ratePerson, unopposed } from '../../../services/workers/image/person/rate-person';
import { type MaskFacts } from '../../../services/workers/image/vision/rate-mask';

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
