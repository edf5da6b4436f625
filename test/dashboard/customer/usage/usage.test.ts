import { csvField } from '../../../../services/dashboard/http/csv';
import { ANSWER_TIME_BOUNDS_MS as BOUNDS, answerTimePlace } from '../../../../plugins/core/catalogue/answer-times';
import {
  changeText,
  figuresOf,
  formatWithin,
  notKnown,
  sumAnswers,
  withinMs,
} from '../../../../services/dashboard/web/customer/usage/answers';
import { refusedSeries, usedSeries, usedTitle } from '../../../../services/dashboard/web/customer/usage/usage-series';
import { formatDistance, formatHour, formatHourTick, formatMoment, lastHours } from '../../../../services/dashboard/web/parts/format/time';
import { windowStanding } from '../../../../services/dashboard/customer/plans/forecast';
import { restOfMonth } from '../../../../services/dashboard/customer/plans/rest-of-month';
import { fc } from '../../../support/fast-check';

const NONE = new Array<number>(BOUNDS.length + 1).fill(0);
const answers = { succeeded: 5, rejected: 2, failed: 1, abandoned: 1, took: NONE.with(0, 4).with(2, 4) };

describe('the time of an answer', () => {
  it.each([
    [0, 0],
    [10, 0],
    [10.1, 1],
    [30_000, BOUNDS.length - 1],
    [30_001, BOUNDS.length],
  ])('%d ms has place %d', (elapsedMs, place) => {
    expect(answerTimePlace(elapsedMs)).toBe(place);
  });

  it('is told as the bound within which so many were sent', () => {
    const took = NONE.with(0, 50).with(4, 45).with(11, 5);
    expect([0.5, 0.51, 0.95, 0.96].map((share) => withinMs(took, BOUNDS, share))).toEqual([10, 250, 250, Infinity]);
    expect(withinMs(NONE, BOUNDS, 0.5)).toBeUndefined();
  });

  it.each([
    [undefined, '–'],
    [250, '250 ms'],
    [2_500, '2.5 s'],
    [Infinity, 'over 30 s'],
  ])('%p reads %s', (ms, text) => {
    expect(formatWithin(ms, BOUNDS)).toBe(text);
  });
});

it('the chart of what was used names units where the answers of a product in it say what they cost', () => {
  const products = [
    { id: 'weather', countsUnits: false },
    { id: 'tokens', countsUnits: true },
  ];
  expect(usedTitle([{ product: 'weather' }], products)).toBe('Requests used');
  expect(usedTitle([{ product: 'weather' }, { product: 'tokens' }], products)).toBe('Units used');
  expect(usedTitle([{ product: 'tokens' }], [])).toBe('Requests used');
});

describe('answers', () => {
  it('that nobody measured stay unknown, however many others were', () => {
    expect(sumAnswers([null, null])).toBeNull();
    expect(sumAnswers([])).toBeNull();
    const twice = { succeeded: 10, rejected: 4, failed: 2, abandoned: 2, took: NONE.with(0, 8).with(2, 8) };
    expect(sumAnswers([null, answers, answers])).toEqual(twice);
    expect(notKnown({ admitted: 20, answers })).toBe(11);
    expect(notKnown({ admitted: 20, answers: null })).toBe(20);
    // Written before their requests.
    expect(notKnown({ admitted: 3, answers })).toBe(0);
  });
});

const PRODUCTS = ['api-ip', 'api-gst', 'api-seo'].map((id) => ({ id, title: `Title of ${id}` }));
const used = (product: string, count: number, mode: 'live' | 'test' = 'live') => ({ day: '2026-11-22', product, mode, used: count });
const WEEK = ['16', '17', '18', '19', '20', '21', '22'].map((day) => `2026-11-${day}`);
const colors = ({ series }: ReturnType<typeof usedSeries>) => Object.fromEntries(series.map(({ name, color }) => [name, color]));

describe('a chart by day', () => {
  it('gives a product its colour whatever its rank and whatever else is shown', () => {
    const first = colors(usedSeries([used('api-ip', 9), used('api-gst', 1)], PRODUCTS, WEEK));
    const alone = colors(usedSeries([used('api-gst', 9)], PRODUCTS, WEEK));
    expect(colors(usedSeries([used('api-gst', 9), used('api-ip', 1)], PRODUCTS, WEEK))).toEqual(first);
    expect(alone['Title of api-gst']).toBe(first['Title of api-gst']);
    expect(new Set(Object.values(first)).size).toBe(2);
  });

  it('gives a code its colour whatever its rank', () => {
    const refused = (code: string, count: number) => ({ day: '2026-11-22', product: 'api-ip', code, count });
    const ranked = (one: number, other: number) =>
      refusedSeries([refused('key_expired', one), refused('quota_daily_exceeded', other)], WEEK);
    expect(colors(ranked(9, 1))).toEqual(colors(ranked(1, 9)));
  });

  it('names products by title, and test keys apart', () => {
    const { series } = usedSeries([used('api-ip', 2), used('api-ip', 1, 'test')], PRODUCTS, WEEK);
    expect(series.map(({ name }) => name)).toEqual(['Title of api-ip', 'Title of api-ip (test)']);
    expect(new Set(series.map(({ color }) => color)).size).toBe(2);
  });
});

describe('the figures of some days', () => {
  const day = (name: string, admitted: number, failed: number | null) => ({
    day: name,
    admitted,
    answers: failed === null ? null : { ...answers, succeeded: admitted - failed, rejected: 0, abandoned: 0, failed },
  });
  const all = [day('2026-11-22', 10, 1), day('2026-11-16', 5, 0), day('2026-11-15', 8, null)];

  it('leave out other days, and what nobody measured is not known', () => {
    expect(figuresOf(all, WEEK, BOUNDS)).toEqual({ requests: 15, failures: 1, p95Ms: withinMs([...NONE].with(2, 8), BOUNDS, 0.95) });
    expect(figuresOf(all, ['2026-11-15'], BOUNDS)).toEqual({ requests: 8, failures: null, p95Ms: undefined });
  });

  it('are compared in per cent, and with nothing not at all', () => {
    expect([changeText(15, 8), changeText(4, 8), changeText(8, 8), changeText(8, 0)]).toEqual(['+88%', '−50%', 'the same', undefined]);
  });
});

describe('the last hours', () => {
  it('begin where the quota day begins, and end with the one that runs', () => {
    const now = Date.parse('2026-11-20T18:30:00Z');
    expect(lastHours(now, 3, 'Asia/Kolkata')).toEqual(['2026-11-20T16:30:00.000Z', '2026-11-20T17:30:00.000Z', '2026-11-20T18:30:00.000Z']);
    expect(lastHours(now, 2, 'UTC')).toEqual(['2026-11-20T17:00:00.000Z', '2026-11-20T18:00:00.000Z']);
  });

  it.each([
    ['put back', '2026-10-25T12:00:00Z'],
    ['put forward', '2026-03-29T12:00:00Z'],
  ])('are as many and as long as any where clocks are %s', (_, now) => {
    const starts = lastHours(Date.parse(now), 48, 'Europe/Berlin').map((iso) => Date.parse(iso));
    const first = Date.parse(now) - 47 * 3_600_000;
    expect(starts).toEqual(Array.from({ length: 48 }, (_each, index) => first + index * 3_600_000));
  });
});

it('an hour is told as the reader’s clock shows it and in UTC, once where both are the same', () => {
  expect(formatHour('2026-11-20T02:30:00.000Z', 'America/New_York')).toBe('19 Nov, 21:30 (02:30 UTC)');
  expect(formatHourTick('2026-11-20T02:30:00.000Z', 'America/New_York')).toBe('21:30');
  expect(formatHour('2026-11-20T02:30:00.000Z', 'UTC')).toBe('20 Nov, 02:30 UTC');
});

const NOW = Date.parse('2026-11-21T10:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const at = (ms: number): string => new Date(NOW + ms).toISOString();

describe('how long ago something was', () => {
  it.each([
    [0, 'just now'],
    [29_000, 'just now'],
    [-MINUTE, '1 minute ago'],
    [-59 * MINUTE - 40_000, '1 hour ago'],
    [-23 * HOUR - 40 * MINUTE, '24 hours ago'],
    [-2 * DAY + 10_000, '2 days ago'],
    [24 * HOUR - 9_000, 'in 24 hours'],
    [14 * DAY, 'in 14 days'],
  ])('is said in the nearest unit: %d ms', (ms, text) => {
    expect(formatDistance(at(ms), NOW)).toBe(text);
  });

  it('is told with its zone, in full', () => {
    expect(formatMoment('2026-11-24T07:00:00Z', 'Asia/Kolkata')).toBe('24 Nov 2026, 12:30 IST');
    expect(formatMoment('2026-11-24T07:00:00Z', 'UTC')).toBe('24 Nov 2026, 07:00 UTC');
  });

  it('is left to the date beyond two weeks', () => {
    for (const ms of [-15 * DAY, 15 * DAY, 400 * DAY]) expect(formatDistance(at(ms), NOW)).toBeUndefined();
  });
});

describe('the forecast of a window', () => {
  const DAY = { startsAt: 1_000_000, endsAt: 1_086_400 };
  const at = (seconds: number) => DAY.startsAt + seconds;
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
  const forecast = (use: { used: number; limit: number }, elapsed: number, subscribedAt = 0) =>
    windowStanding({ ...use, ...DAY }, { now: at(elapsed), subscribedAt }).exhaustedAt;

  const HOUR_S = 3_600;
  it.each([
    ['when the limit is reached at the rate so far', { used: 600, limit: 1_000 }, 6 * HOUR_S, 10 * HOUR_S],
    ['nothing when it is not reached before the reset', { used: 100, limit: 1_000 }, 6 * HOUR_S, null],
    ['nothing when it is reached at the reset', { used: 250, limit: 1_000 }, 6 * HOUR_S, null],
    ['nothing while too little was used to tell', { used: 9, limit: 10 }, 6 * HOUR_S, null],
    ['nothing for too short a time', { used: 900, limit: 1_000 }, 599, null],
    ['nothing of nothing', { used: 0, limit: 1_000 }, 0, null],
    ['nothing of little in half a day', { used: 100, limit: 1_000 }, 12 * HOUR_S, null],
    ['now once the limit is reached', { used: 1_000, limit: 1_000 }, 60, 60],
    ['now where the limit was lowered below what was used', { used: 1_500, limit: 1_000 }, 60, 60],
    ['now where the limit is nothing', { used: 0, limit: 0 }, 60, 60],
  ])('says %s', (_what, use, elapsed, told) => {
    expect(forecast(use, elapsed)).toBe(told === null ? null : iso(at(told)));
  });

  it('measures a subscription that is younger than the window from its beginning', () => {
    expect(forecast({ used: 100, limit: 1_000 }, 12 * HOUR_S, at(11 * HOUR_S))).toBe(iso(at(21 * HOUR_S)));
  });

  it('takes no more for a month than its days can have, however fast the first calls came', () => {
    const month = { startsAt: 0, endsAt: 30 * 24 * HOUR_S };
    const forecastOf = (use: { used: number; limit: number; mostADay: number }) =>
      windowStanding({ ...use, ...month }, { now: HOUR_S, subscribedAt: 0 }).exhaustedAt;
    expect(forecastOf({ used: 16, limit: 1_000, mostADay: 100 })).toBe(iso(HOUR_S + 9.84 * 24 * HOUR_S));
    expect(forecastOf({ used: 16, limit: 3_100, mostADay: 100 })).toBeNull();
    expect(forecastOf({ used: 16, limit: 1_000, mostADay: 1_000 })).toBe(iso(HOUR_S + 984 * (HOUR_S / 16)));
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

describe('what a plan costs until the end of the month', () => {
  const plan = (name: string, price: string, currency = 'INR') =>
    ({ name, price, currency, daily: 1, monthly: 30, approval: 'automatic' }) as const;
  const [small, large] = [plan('Small', '150.00'), plan('Large', '300.00')];
  const plans = [small, large, plan('Other', '900.00', 'USD')];
  const on = (name: string | null, ownPrice: { price: string; currency: string } | null = null, state: 'active' | 'paused' = 'active') => ({
    plan: name,
    ownPrice,
    state,
  });

  it.each([
    ['of a new subscription', large, undefined, { days: 10, amount: '100.00' }],
    ['of a dearer plan', large, on('Small'), { days: 10, amount: '100.00' }],
    ['of a cheaper plan, which costs from tomorrow', small, on('Large'), { days: 9, amount: '45.00' }],
    ['after the base limits', small, on(null), { days: 10, amount: '50.00' }],
    ['after an own price that is lower', small, on('Large', { price: '100.00', currency: 'INR' }), { days: 10, amount: '50.00' }],
    ['after a plan that is paused', small, on('Large', null, 'paused'), { days: 10, amount: '50.00' }],
    ['after a plan in another currency', small, on('Other'), { days: 10, amount: '50.00' }],
  ])('%s', (_, wanted, present, cost) => {
    expect(restOfMonth(wanted, { today: '2027-04-21', present, plans })).toEqual(cost);
  });
});

describe('a field of a CSV file', () => {
  it('keeps text of a spreadsheet from being calculated, and quotes as RFC 4180 does', () => {
    const fields = ['x;=1+1', 'x;\t=1', '=1+1', '+1', '-1', '-1+1', '@SUM(A1)', '\t=1', 'a,b', 'say "hi"', 'two\r\nlines', 'plain'].map(
      csvField,
    );
    expect(fields).toEqual([
      `"x;'=1+1"`,
      `"x;\t'=1"`,
      `'=1+1`,
      `'+1`,
      '-1',
      `'-1+1`,
      `'@SUM(A1)`,
      `"'\t'=1"`,
      '"a,b"',
      '"say ""hi"""',
      '"two\r\nlines"',
      'plain',
    ]);
    expect(csvField(-3)).toBe('-3');
  });
});
