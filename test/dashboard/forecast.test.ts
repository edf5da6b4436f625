import { windowStanding } from '../../services/dashboard/api/plans/forecast';
import { fc } from '../support/fast-check';

const DAY = { startsAt: 1_000_000, endsAt: 1_086_400 };
const at = (seconds: number) => DAY.startsAt + seconds;
const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
const forecast = (use: { used: number; limit: number }, elapsed: number, subscribedAt = 0) =>
  windowStanding({ ...use, ...DAY }, { now: at(elapsed), subscribedAt }).exhaustedAt;

describe('the forecast of a window', () => {
  it('says when the limit is reached at the rate so far', () => {
    // 600 in 6 hours of 1,000: the other 400 take 4 hours.
    expect(forecast({ used: 600, limit: 1_000 }, 6 * 3_600)).toBe(iso(at(10 * 3_600)));
  });

  it('says nothing when the limit is not reached before the reset', () => {
    expect(forecast({ used: 100, limit: 1_000 }, 6 * 3_600)).toBeNull();
    expect(forecast({ used: 250, limit: 1_000 }, 6 * 3_600)).toBeNull();
  });

  it('says nothing while too little was used, or for too short a time, to tell', () => {
    expect(forecast({ used: 9, limit: 10 }, 6 * 3_600)).toBeNull();
    expect(forecast({ used: 900, limit: 1_000 }, 599)).toBeNull();
    expect(forecast({ used: 0, limit: 1_000 }, 0)).toBeNull();
  });

  it('measures a subscription that is younger than the window from its beginning', () => {
    const used = { used: 100, limit: 1_000 };
    expect(forecast(used, 12 * 3_600)).toBeNull();
    expect(forecast(used, 12 * 3_600, at(11 * 3_600))).toBe(iso(at(21 * 3_600)));
  });

  it('is now once the limit is reached, or was lowered below what was used, or is nothing', () => {
    for (const use of [
      { used: 1_000, limit: 1_000 },
      { used: 1_500, limit: 1_000 },
      { used: 0, limit: 0 },
    ])
      expect(forecast(use, 60)).toBe(iso(at(60)));
  });

  it('lies between now and the reset, whatever the figures', () => {
    const count = fc.integer({ min: 0, max: 2_000_000_000 });
    fc.assert(
      fc.property(
        count,
        count,
        fc.integer({ min: 0, max: 86_399 }),
        fc.integer({ min: 0, max: at(86_399) }),
        (used, limit, elapsed, subscribedAt) => {
          const told = forecast({ used, limit }, elapsed, subscribedAt);
          if (told === null) return;
          expect(Date.parse(told) / 1000).toBeGreaterThanOrEqual(at(elapsed));
          expect(Date.parse(told) / 1000).toBeLessThan(DAY.endsAt);
        },
      ),
    );
  });
});
