import { rankScore, serviceAuthority } from '../../../services/workers/seo/research/service-authority';
import { fc } from '../../support/fast-check';

test.each([
  [1, 100],
  [10, 100 * (6 / 7)],
  [1_000_000, 100 / 7],
  [10_000_000, 0],
  [100_000_000, 0],
])('rank %i is worth %f', (rank, score) => expect(rankScore(rank)).toBeCloseTo(score, 9));

test('the estimate is the mean of what is known', () => {
  expect(serviceAuthority({ openPageRank: 4, rank: 1 })).toBe(70);
  expect(serviceAuthority({ openPageRank: 4, rank: null })).toBe(40);
  expect(serviceAuthority({ openPageRank: null, rank: 10 })).toBeCloseTo(85.714, 3);
});

test('nothing known is no estimate, and zero is not nothing', () => {
  expect(serviceAuthority({ openPageRank: null, rank: null })).toBeNull();
  expect(serviceAuthority({ openPageRank: 0, rank: null })).toBe(0);
});

test('the estimate lies between 0 and 100 and a better rank is never worth less', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 10, noNaN: true }), fc.integer({ min: 1, max: 2 ** 40 }), fc.nat(), (openPageRank, rank, more) => {
      const estimate = serviceAuthority({ openPageRank, rank }) ?? -1;
      expect(estimate).toBeGreaterThanOrEqual(0);
      expect(estimate).toBeLessThanOrEqual(100);
      expect(rankScore(rank)).toBeGreaterThanOrEqual(rankScore(rank + more));
    }),
  );
});
