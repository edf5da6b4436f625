import { isLogged, KeyHours } from '../../../../plugins/stores/postgres/decisions/count-key-hours';
import { readStandingText, standingText } from '../../../../plugins/stores/postgres/decisions/standing-text';

const place = { credentialId: 'k', day: '2026-11-20', hour: 9, product: 'api-ip' };

describe('lines of the log for admissions of one key, product and hour', () => {
  const logged = (hours: KeyHours, count: number): number => {
    let lines = 0;
    for (let index = 0; index < count; index++) if (hours.count(place, 'admitted')) lines += 1;
    return lines;
  };

  it('are all written up to one a second, then for one of 100, then for one of 1,000', () => {
    expect([1, 3_600, 3_601, 3_700, 360_000, 360_100, 361_000].map((each) => isLogged(each))).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
      true,
    ]);
    expect(logged(new KeyHours(), 3_600)).toBe(3_600);
    expect(logged(new KeyHours(), 36_000)).toBe(3_600 + 324);
  });

  it('are counted where they are missing, however often the counts are handed out', () => {
    const hours = new KeyHours();
    let [lines, admitted, unlogged] = [0, 0, 0];
    for (let flush = 0; flush < 10; flush++) {
      lines += logged(hours, 1_000);
      for (const counts of hours.take()) [admitted, unlogged] = [admitted + counts.admitted, unlogged + counts.admittedUnlogged];
    }
    expect([admitted, lines + unlogged]).toEqual([10_000, 10_000]);
    expect(lines).toBe(3_600 + 64);
    expect(hours.take()).toEqual([]);
  });

  it('begin anew with the hour, and are counted for each product by itself', () => {
    const hours = new KeyHours();
    logged(hours, 3_600);
    expect(hours.count({ ...place, product: 'api-seo' }, 'admitted')).toBe(true);
    expect(hours.count(place, 'admitted')).toBe(false);
    expect(hours.count({ ...place, hour: 10 }, 'admitted')).toBe(true);
  });

  it('are those of a customer up to five a second, however many keys it has, and one of 100 above; the rest is counted', () => {
    const hours = new KeyHours();
    const linesOf = (customer: string, key: number, count: number): number =>
      Array.from({ length: count }, () => hours.count({ ...place, credentialId: `${customer} ${key}` }, 'admitted', customer)).filter(
        Boolean,
      ).length;
    let lines = 0;
    for (let key = 0; key < 20; key++) lines += linesOf('busy', key, 1_000);
    expect([lines, linesOf('quiet', 1, 1_000)]).toEqual([18_000 + 20, 1_000]);
    expect(hours.take().reduce((sum, { admittedUnlogged }) => sum + admittedUnlogged, 0)).toBe(20_000 - lines);
  });

  it('of refusals are all written', () => {
    const hours = new KeyHours();
    logged(hours, 4_000);
    expect(hours.count(place, 'quota_daily_exceeded')).toBe(true);
  });

  it('that were let go later are counted in their own hour', () => {
    const hours = new KeyHours();
    hours.count(place, 'admitted');
    hours.count({ ...place, hour: 10 }, 'admitted');
    hours.take();
    hours.noteUnlogged(place, 'admitted');
    hours.noteUnlogged(place, 'key_expired');
    expect(hours.take()).toEqual([{ ...place, admitted: 0, refused: 0, unavailable: 0, admittedUnlogged: 1, refusedUnlogged: 1 }]);
  });
});

it.each([
  { day: '2026-11-20', usedDaily: 3, usedMonthly: 40, daily: 3, monthly: 100, exceeded: 'daily' as const },
  { day: '2026-11-20', usedDaily: 0, usedMonthly: 0, daily: 9_000_000_000_000_000, monthly: 9_000_000_000_000_000, exceeded: undefined },
  { day: '2026-11-20', usedDaily: 5, usedMonthly: 5, daily: 5, monthly: 100, exceeded: 'daily' as const, isCapped: true },
  { day: '2026-11-20', usedDaily: 1, usedMonthly: 5, daily: 5, monthly: 100, exceeded: undefined, isCapped: true },
  {
    ...{ day: '2026-11-20', usedDaily: 1, usedMonthly: 5, daily: 5, monthly: 100, exceeded: 'rate' as const, isCapped: true },
    rate: { limit: 10, windowSeconds: 1, burst: 20 } as const,
  },
  {
    ...{ day: '2026-11-20', usedDaily: 1, usedMonthly: 5, daily: 5, monthly: 100, exceeded: undefined },
    rate: { limit: 6_000_000, windowSeconds: 60, burst: 100_000 } as const,
  },
])('a standing reads as it was written: %j', (standing) => {
  expect(readStandingText(standingText(standing))).toEqual(standing);
});

it('what is no standing reads as none', () => {
  expect(readStandingText('2026-11-20 1 2')).toBeUndefined();
});
