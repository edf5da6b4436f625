import { randomUUID } from 'node:crypto';
import { type QuotaLimits, type Rate } from '../../plugins/core/catalogue/catalogue';
import { type SpendResult } from '../../plugins/core/ports';
import { counterOf } from '../../plugins/core/access/subscription';
import { useOpened } from '../support/opened';
import { type QuotaHarness } from './quota-node';

/** So slow that the time a test takes gives nothing back. */
const SLOW: Rate = { limit: 1, windowSeconds: 60, burst: 5 };
const LIMITS: QuotaLimits = { daily: 100, monthly: 1_000, rate: SLOW };

const granted = (results: readonly SpendResult[]): number => results.filter((result) => result.granted).length;

/** What every quota counter guarantees of limits that have a rate. */
export function describeRates(name: string, create: (timeZone: string) => Promise<QuotaHarness>): void {
  describe(`${name}: a rate`, () => {
    const harness = useOpened(() => create('Asia/Kolkata'));
    let subscriptionId: string;
    beforeEach(() => {
      subscriptionId = randomUUID();
      harness.setStoreClock('2096-11-20T12:00:00+05:30');
    });

    const nodeOf = (isOther: boolean) => (isOther ? harness.otherNode : harness.counter);
    const spend = (given: { limits?: QuotaLimits; units?: number; isOther?: boolean; id?: string } = {}): Promise<SpendResult> =>
      nodeOf(given.isOther ?? false).spend({
        subscriptionId: given.id ?? subscriptionId,
        limits: given.limits ?? LIMITS,
        units: given.units,
      });
    const spends = (times: number, given: Parameters<typeof spend>[0] = {}): Promise<SpendResult[]> =>
      Promise.all(Array.from({ length: times }, () => spend(given)));
    const used = async (): Promise<number> => (await harness.otherNode.readStanding(subscriptionId)).usedDaily;

    it('lets a burst pass and no more, on two nodes at once, and spends no quota of what it refuses', async () => {
      const results = (await Promise.all([spends(40), spends(40, { isOther: true })])).flat();
      expect(granted(results)).toBe(5);
      expect(new Set(results.filter((each) => !each.granted).map(({ exceeded }) => exceeded))).toEqual(new Set(['rate']));
      expect(await used()).toBe(5);
    });

    it('tells each of those that came together how many may still come, and the refused when the next may', async () => {
      const results = await spends(7);
      expect(results.map(({ standing }) => standing.rate?.remaining)).toEqual([4, 3, 2, 1, 0, 0, 0]);
      const { waitUs = 0 } = results[6]?.standing.rate ?? {};
      expect(waitUs).toBeGreaterThan(30_000_000);
      expect(waitUs).toBeLessThanOrEqual(60_000_000);
    });

    it('lets one more pass with each interval, and a whole burst after a pause', async () => {
      await spends(9);
      harness.setStoreClock('2096-11-20T12:00:40+05:30');
      expect(granted(await spends(3, { isOther: true }))).toBe(0);
      harness.setStoreClock('2096-11-20T12:01:10+05:30');
      expect(granted(await spends(3))).toBe(1);
      harness.setStoreClock('2096-11-20T12:03:20+05:30');
      expect(granted(await spends(9, { isOther: true }))).toBe(2);
      harness.setStoreClock('2096-11-20T14:00:00+05:30');
      expect(granted(await spends(9))).toBe(5);
    });

    it('goes on over midnight', async () => {
      harness.setStoreClock('2096-11-20T23:59:50+05:30');
      await spends(9);
      harness.setStoreClock('2096-11-21T00:00:05+05:30');
      expect(granted(await spends(9))).toBe(0);
      expect(await used()).toBe(0);
    });

    it('admits again within an interval of a clock that is set back', async () => {
      await spends(9);
      harness.setStoreClock('2095-06-01T12:00:00+05:30');
      expect(granted(await spends(3))).toBe(0);
      harness.setStoreClock('2095-06-01T12:01:10+05:30');
      expect(granted(await spends(3, { isOther: true }))).toBe(1);
    });

    it('goes by the clock of the store, whatever the clocks of two nodes say', async () => {
      // Those are decades behind, and seconds apart.
      expect([granted(await spends(3)), granted(await spends(3, { isOther: true })), granted(await spends(3))]).toEqual([3, 2, 0]);
      harness.setStoreClock('2096-11-20T12:01:10+05:30');
      expect([granted(await spends(3, { isOther: true })), granted(await spends(3))]).toEqual([1, 0]);
    });

    it.each([
      // By its own clock nothing has passed since.
      ['behind', '2096-11-20T12:01:03+05:30', 0],
      // A request in a minute: a clock that is ahead by as much lets one more pass.
      ['ahead', '2096-11-20T12:02:15+05:30', 1],
    ])('goes on with a store that takes over with a clock seconds %s, and lets no burst pass again', async (_how, iso, more) => {
      harness.setStoreClock('2096-11-20T12:01:10+05:30');
      await spends(9);
      harness.setStoreClock(iso);
      expect(granted(await spends(9, { isOther: true }))).toBe(more);
      harness.setStoreClock(new Date(Date.parse(iso) + 60_000).toISOString());
      expect(granted(await spends(9))).toBe(1);
    });

    it('counts a request for many units once, and takes all of them or none', async () => {
      const results = [];
      for (let count = 0; count < 7; count++) results.push(await spend({ units: 10, isOther: count % 2 === 0 }));
      expect(granted(results)).toBe(5);
      expect(results[6]).toMatchObject({ granted: false, exceeded: 'rate', standing: { usedDaily: 50 } });
      expect(await used()).toBe(50);
    });

    it('spends no rate of a request that the day or the month refuses, and names these first', async () => {
      const tight = { ...LIMITS, daily: 2 };
      const results = await spends(20, { limits: tight });
      expect([granted(results), results[19]?.exceeded, results[19]?.standing.rate?.remaining]).toEqual([2, 'daily', 3]);
      expect(await spend({ limits: { ...LIMITS, monthly: 10 }, units: 30 })).toMatchObject({ granted: false, exceeded: 'monthly' });
      expect(granted(await spends(9))).toBe(3);
      expect(await spend({ limits: { ...LIMITS, daily: 5 } })).toMatchObject({ granted: false, exceeded: 'daily' });
    });

    it('gives nothing of it back with a refund', async () => {
      await spends(5);
      const refund = { subscriptionId, day: '2096-11-20', requestId: randomUUID(), dailyLimit: 100 };
      expect(await harness.counter.refund(refund)).toBe('refunded');
      expect(await spend({ isOther: true })).toMatchObject({ granted: false, exceeded: 'rate', standing: { usedDaily: 4 } });
    });

    it('counts live and test keys by themselves', async () => {
      const test = counterOf(subscriptionId, 'test');
      expect([granted(await spends(9)), granted(await spends(9, { id: test }))]).toEqual([5, 5]);
    });

    it('keeps what came when the plan changes, and never makes a caller wait for a larger burst that it had', async () => {
      const large = { ...LIMITS, rate: { limit: 60, windowSeconds: 60, burst: 60 } } as const;
      expect(granted(await spends(60, { limits: large }))).toBeGreaterThanOrEqual(60);
      const refused = await spend();
      expect(refused).toMatchObject({ granted: false, exceeded: 'rate' });
      expect(refused.standing.rate?.waitUs).toBeLessThanOrEqual(60_000_000);
      harness.setStoreClock('2096-11-20T12:01:10+05:30');
      expect(granted(await spends(9))).toBe(1);
    });

    it('does not hold, and says nothing, where the limits have none', async () => {
      const results = await spends(50, { limits: { daily: 100, monthly: 1_000 } });
      expect([granted(results), results[0]?.standing.rate]).toEqual([50, undefined]);
    });

    it('is exact while two nodes ask without a pause', async () => {
      const rate: Rate = { limit: 200, windowSeconds: 1, burst: 400 };
      const limits = { daily: 1_000_000, monthly: 1_000_000, rate };
      const startedAt = performance.now();
      const first = granted(await spends(500, { limits }));
      const answeredAt = performance.now();
      let [total, askedAt] = [first, answeredAt];
      while (performance.now() - startedAt < 500) {
        askedAt = performance.now();
        total += granted((await Promise.all([spends(200, { limits }), spends(200, { limits, isOther: true })])).flat());
      }
      const endedAt = performance.now();
      expect(total).toBeLessThanOrEqual(400 + (200 * (endedAt - startedAt)) / 1000);
      expect(total).toBeGreaterThanOrEqual(Math.floor(400 + (200 * (askedAt - answeredAt)) / 1000) - 1);
    });
  });
}
