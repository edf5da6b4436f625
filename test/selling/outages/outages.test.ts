import { addUpDays, availablePercent, knownDays, MIN_RESPONSES, type Observed } from '../../../services/selling/outages/availability';
import { failureOf } from '../../../services/selling/outages/one-failure';

const at = (text: string): Date => new Date(`${text}:00Z`);
const NOW = at('2026-11-20T12:00');
const responses = (day: string, answered: number, failed = 0) => ({ product: 'api-ip', day, answered, failed });
const observed = (extra: Partial<Observed>): Observed => ({ days: [], outages: [], nowMs: NOW.getTime(), timeZone: 'UTC', ...extra });
const known = (extra: Partial<Observed>, count = 3) => knownDays('api-ip', observed(extra), count);

describe('availability', () => {
  it('counts minutes of outage, whatever the share of responses', () => {
    const days = known({ days: [responses('2026-11-20', 40, 30), responses('2026-11-19', 1_000, 999)] });
    expect(days.map((each) => availablePercent(each))).toEqual([100, 100]);
    const outage = { product: 'api-ip', beganAt: at('2026-11-19T23:30'), endedAt: at('2026-11-20T00:30') };
    expect(known({ days: [responses('2026-11-20', 40)], outages: [outage] })).toEqual([
      { day: '2026-11-19', minutes: 1_440, down: 30 },
      { day: '2026-11-20', minutes: 720, down: 30 },
    ]);
  });

  it('of a day is not known below a floor of responses, unless there was an outage', () => {
    expect(known({ days: [responses('2026-11-20', MIN_RESPONSES - 1, 1), responses('2026-11-19', MIN_RESPONSES)] })).toMatchObject([
      { day: '2026-11-19' },
    ]);
    const outage = { product: 'api-ip', beganAt: at('2026-11-20T11:00'), endedAt: null };
    expect(known({ outages: [outage] })).toEqual([{ day: '2026-11-20', minutes: 720, down: 60 }]);
    expect(known({ outages: [{ ...outage, product: 'api-seo' }] })).toEqual([]);
  });

  it('goes by days of the zone, also where clocks change', () => {
    const outage = { product: 'api-ip', beganAt: at('2026-10-24T22:00'), endedAt: at('2026-10-25T23:00') };
    const days = knownDays(
      'api-ip',
      observed({ outages: [outage], nowMs: at('2026-10-26T12:00').getTime(), timeZone: 'Europe/Berlin' }),
      3,
    );
    expect(days).toEqual([{ day: '2026-10-25', minutes: 1_500, down: 1_500 }]);
  });

  it('is never rounded up to 100', () => {
    expect(availablePercent(addUpDays([{ minutes: 129_600, down: 0 }, { minutes: 1_440, down: 0.1 }]))).toBe(99.99);
    expect(availablePercent({ minutes: 1_440, down: 1_440 })).toBe(0);
  }); // prettier-ignore
});

const atMinute = (minute: number): Date => new Date(Date.UTC(2026, 10, 29, 3, minute));
const outage = (id: string, began: number, ended?: number) => ({
  ...{ id, product: 'api-ip', beganAt: atMinute(began), endedAt: ended === undefined ? null : atMinute(ended) },
});

describe('to readers of mail', () => {
  it.each([
    ['an outage alone', [outage('a', 0, 10)], 'a', { first: 'a', last: 'a', endedAt: atMinute(10) }],
    ['one that goes on', [outage('a', 0)], 'a', { first: 'a', last: 'a', endedAt: null }],
    ['two with a quarter of an hour between them', [outage('a', 0, 10), outage('b', 25, 30)], 'a', { first: 'a', last: 'a' }],
    ['the second of them', [outage('a', 0, 10), outage('b', 25, 30)], 'b', { first: 'b', last: 'b', beganAt: atMinute(25) }],
  ])('%s is one failure', (_what, outages, id, failure) => {
    expect(failureOf(outages, id)).toMatchObject(failure);
  });

  it('a product that begins to fail again and again, each time within a quarter of an hour, fails once', () => {
    const outages = [outage('c', 39, 45), outage('a', 0, 10), outage('b', 24, 25)];
    const failure = { product: 'api-ip', beganAt: atMinute(0), endedAt: atMinute(45), first: 'a', last: 'c' };
    for (const id of ['a', 'b', 'c']) expect(failureOf(outages, id)).toEqual(failure);
    expect(failureOf([...outages, outage('d', 50)], 'a')).toEqual({ ...failure, endedAt: null, last: 'd' });
  });

  it('an outage that is no longer kept is none', () => {
    expect(failureOf([outage('a', 0, 10)], 'b')).toBeUndefined();
  });
});
