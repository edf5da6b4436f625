import { QuotaHours, decideSpend, isTimeZone, rateLimitHeaders, reportQuota, windowsAt } from '../../../plugins/core/access/quota';
import { fc, propertyRuns } from '../../support/fast-check';

const at = (iso: string): number => Date.parse(iso) / 1000;

describe('quota windows', () => {
  it('turn at midnight in Asia/Kolkata, which is 18:30 UTC', () => {
    expect(windowsAt(at('2026-11-20T18:29:59Z'), 'Asia/Kolkata')).toMatchObject({
      day: '2026-11-20',
      dayEndsAt: at('2026-11-20T18:30:00Z'),
    });
    expect(windowsAt(at('2026-11-20T18:30:00Z'), 'Asia/Kolkata')).toMatchObject({
      day: '2026-11-21',
      dayStartsAt: at('2026-11-20T18:30:00Z'),
    });
    expect(windowsAt(at('2026-11-30T18:30:00Z'), 'Asia/Kolkata')).toMatchObject({
      month: '2026-12',
      monthStartsAt: at('2026-11-30T18:30:00Z'),
    });
  });

  it('are 23 and 25 hours long where clocks change', () => {
    const spring = windowsAt(at('2026-03-08T12:00:00Z'), 'America/New_York');
    const autumn = windowsAt(at('2026-11-01T12:00:00Z'), 'America/New_York');
    expect(spring.dayEndsAt - spring.dayStartsAt).toBe(23 * 3600);
    expect(autumn.dayEndsAt - autumn.dayStartsAt).toBe(25 * 3600);
  });

  it('have up to 26 hours, where clocks go back by two', () => {
    const zone = 'Antarctica/Troll';
    const { day, dayStartsAt, dayEndsAt } = windowsAt(at('2026-10-25T12:00:00Z'), zone);
    expect(dayEndsAt - dayStartsAt).toBe(26 * 3600);
    expect(new QuotaHours(zone).at((dayEndsAt - 1) * 1000)).toEqual({ day, hour: 25 });
  });

  it('start at the change where midnight does not exist', () => {
    // Beirut goes from 00:00 to 01:00 on the last Sunday of March.
    const day = windowsAt(at('2026-03-29T12:00:00Z'), 'Asia/Beirut');
    expect(day).toMatchObject({ day: '2026-03-29', dayStartsAt: at('2026-03-28T22:00:00Z') });
  });

  it('hold their moment, touch their neighbours and agree with the calendar in any zone', () => {
    const zones = ['UTC', 'Asia/Kolkata', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/Sao_Paulo', 'Asia/Beirut'];
    fc.assert(
      fc.property(
        fc.integer({ min: at('2024-01-01T00:00:00Z'), max: at('2030-01-01T00:00:00Z') }),
        fc.constantFrom(...zones),
        (moment, zone) => {
          const now = windowsAt(moment, zone);
          expect(moment).toBeGreaterThanOrEqual(now.dayStartsAt);
          expect(moment).toBeLessThan(now.dayEndsAt);
          expect(now.dayStartsAt).toBeGreaterThanOrEqual(now.monthStartsAt);
          expect(now.dayEndsAt).toBeLessThanOrEqual(now.monthEndsAt);
          expect(windowsAt(now.dayEndsAt, zone).dayStartsAt).toBe(now.dayEndsAt);
          expect(windowsAt(now.dayEndsAt - 1, zone).day).toBe(now.day);
          expect(now.day).toBe(new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(moment * 1000));
        },
      ),
      { numRuns: propertyRuns(300) },
    );
  });

  it('know which zones exist', () => {
    expect(isTimeZone('Asia/Kolkata')).toBe(true);
    expect(isTimeZone('Asia/Nowhere')).toBe(false);
  });
});

describe('a spend', () => {
  it('takes from day and month together or from neither, and never past a limit', () => {
    const count = fc.nat({ max: 50 });
    fc.assert(
      fc.property(
        fc.tuple(count, count, count, count),
        fc.integer({ min: 1, max: 20 }),
        ([usedDaily, usedMonthly, daily, monthly], requested) => {
          const { granted, exceeded } = decideSpend({ usedDaily, usedMonthly }, { daily, monthly }, requested);
          expect(granted).toBeGreaterThanOrEqual(0);
          expect(granted).toBeLessThanOrEqual(requested);
          if (granted > 0) expect(usedDaily + granted <= daily && usedMonthly + granted <= monthly).toBe(true);
          expect(exceeded === undefined).toBe(granted === requested);
          if (exceeded) expect(Math.min(daily - usedDaily, monthly - usedMonthly) - granted).toBeLessThanOrEqual(0);
        },
      ),
    );
  });

  it('names the month when both windows are used up, because the next day would not help', () => {
    expect(decideSpend({ usedDaily: 5, usedMonthly: 50 }, { daily: 5, monthly: 50 }, 1).exceeded).toBe('monthly');
    expect(decideSpend({ usedDaily: 5, usedMonthly: 49 }, { daily: 5, monthly: 50 }, 1).exceeded).toBe('daily');
  });
});

describe('the RateLimit fields', () => {
  it('carry limit, window, remaining and seconds to the reset', () => {
    const windows = windowsAt(at('2026-11-20T12:00:00Z'), 'Asia/Kolkata');
    const report = reportQuota({ ...windows, usedDaily: 7, usedMonthly: 40 }, { daily: 10, monthly: 30 });
    expect(rateLimitHeaders(report, at('2026-11-20T12:00:00Z'))).toEqual({
      'RateLimit-Policy': '"daily";q=10;w=86400, "monthly";q=30;w=2592000',
      RateLimit: '"daily";r=3;t=23400, "monthly";r=0;t=887400',
    });
  });

  it.each([
    ['the day', { usedDaily: 7, usedMonthly: 40 }, '"included";r=1;t=23400', '"included";q=8;w=86400'],
    ['the month', { usedDaily: 2, usedMonthly: 99 }, '"included";r=1;t=887400', '"included";q=100;w=2592000'],
    ['nothing', { usedDaily: 9, usedMonthly: 40 }, '"included";r=0;t=23400', '"included";q=8;w=86400'],
  ])('say what is left before use is charged: %s', (_, used, left, policy) => {
    const limits = { daily: 10, monthly: 300, included: { daily: 8, monthly: 100 } };
    const now = '2026-11-20T12:00:00Z';
    const fields = rateLimitHeaders(reportQuota({ ...windowsAt(at(now), 'Asia/Kolkata'), ...used }, limits), at(now));
    expect(fields.RateLimit.split(', ')[2]).toBe(left);
    expect(fields['RateLimit-Policy'].split(', ')[2]).toBe(policy);
  });
});
