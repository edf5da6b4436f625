import { randomUUID } from 'node:crypto';
import { type QuotaLimits } from '../../plugins/core/selling/catalogue';
import { type QuotaCounter, type SpendResult } from '../../plugins/core/ports';
import { counterOf } from '../../plugins/core/access/subscription';

/** One store with two nodes that count in it, and a hand on the store's clock. */
export interface QuotaHarness {
  readonly counter: QuotaCounter;
  readonly otherNode: QuotaCounter;
  /** Sets the store's clock to this moment; it runs on from there. The nodes' own clocks stay as they are. */
  setStoreClock(iso: string): void;
  close(): Promise<void>;
}

const LIMITS: QuotaLimits = { daily: 5, monthly: 100 };

async function spendTimes(counter: QuotaCounter, subscriptionId: string, limits: QuotaLimits, times: number): Promise<SpendResult[]> {
  return Promise.all(Array.from({ length: times }, () => counter.spend({ subscriptionId, limits })));
}

function granted(results: readonly SpendResult[]): number {
  return results.filter((result) => result.granted).length;
}

/** What every quota counter guarantees. */
export function describeQuotaCounter(name: string, create: (timeZone: string) => Promise<QuotaHarness>): void {
  describe(`${name}: the quota counter`, () => {
    let harness: QuotaHarness;
    let subscriptionId: string;
    beforeAll(async () => {
      harness = await create('Asia/Kolkata');
    });
    afterAll(() => harness.close());
    beforeEach(() => {
      subscriptionId = randomUUID();
      // Far ahead of any clock: refunds older than four days of the database's own clock are forgotten.
      harness.setStoreClock('2096-11-20T12:00:00+05:30');
    });

    describeLimits(() => ({ harness, subscriptionId }));
    describeRefunds(() => ({ harness, subscriptionId }));
    describeModes(() => ({ harness, subscriptionId }));
    describeWholes(() => ({ harness, subscriptionId }));
    describeSettlements(() => ({ harness, subscriptionId }));
    describeRefundCap(() => ({ harness, subscriptionId }));
    describeWindows(() => ({ harness, subscriptionId }));
  });
  describeZones(name, create);
}

type Context = () => { harness: QuotaHarness; subscriptionId: string };

function describeLimits(context: Context): void {
  it('grants as many units as the day holds and names the daily window when it refuses', async () => {
    const { harness, subscriptionId } = context();
    for (let used = 1; used <= 5; used++) {
      const result = await harness.counter.spend({ subscriptionId, limits: LIMITS });
      expect(result).toMatchObject({ granted: true, exceeded: undefined, standing: { usedDaily: used, usedMonthly: used } });
    }
    const refused = await harness.counter.spend({ subscriptionId, limits: LIMITS });
    expect(refused).toMatchObject({ granted: false, exceeded: 'daily', standing: { usedDaily: 5, usedMonthly: 5 } });
  });

  it('takes a unit from day and month together or from neither', async () => {
    const { harness, subscriptionId } = context();
    const limits = { daily: 10, monthly: 3 };
    await spendTimes(harness.counter, subscriptionId, limits, 3);
    const refused = await harness.counter.spend({ subscriptionId, limits });
    expect(refused).toMatchObject({ granted: false, exceeded: 'monthly', standing: { usedDaily: 3, usedMonthly: 3 } });
  });

  it('names the month when both windows are used up', async () => {
    const { harness, subscriptionId } = context();
    const results = await spendTimes(harness.counter, subscriptionId, { daily: 2, monthly: 2 }, 3);
    expect(results.map((result) => result.exceeded)).toEqual([undefined, undefined, 'monthly']);
  });

  it('never counts a denial', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, LIMITS, 50);
    await expect(harness.counter.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 5, usedMonthly: 5 });
    expect(granted(await spendTimes(harness.counter, subscriptionId, { daily: 6, monthly: 100 }, 3))).toBe(1);
  });

  it('denies everything at a limit of zero', async () => {
    const { harness, subscriptionId } = context();
    expect(granted(await spendTimes(harness.counter, subscriptionId, { daily: 0, monthly: 0 }, 2))).toBe(0);
  });

  it('lets exactly as many of many concurrent spends pass as are left, on two nodes', async () => {
    const { harness, subscriptionId } = context();
    const limits = { daily: 37, monthly: 1_000 };
    const rounds = await Promise.all([
      spendTimes(harness.counter, subscriptionId, limits, 60),
      spendTimes(harness.otherNode, subscriptionId, limits, 60),
    ]);
    expect(granted(rounds.flat())).toBe(37);
    await expect(harness.otherNode.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 37 });
  });

  it('serves those who came first and tells each where it stood', async () => {
    const { harness, subscriptionId } = context();
    const results = await spendTimes(harness.counter, subscriptionId, { daily: 3, monthly: 100 }, 5);
    expect(results.map((result) => [result.granted, result.standing.usedDaily])).toEqual([
      [true, 1],
      [true, 2],
      [true, 3],
      [false, 3],
      [false, 3],
    ]);
  });

  it('counts each subscription by itself', async () => {
    const { harness } = context();
    const ids = Array.from({ length: 30 }, () => randomUUID());
    const results = await Promise.all(ids.map((id) => spendTimes(harness.counter, id, { daily: 2, monthly: 100 }, 3)));
    expect(results.map(granted)).toEqual(ids.map(() => 2));
  });

  it('applies a changed plan to the next spend and keeps what was used', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, LIMITS, 5);
    const larger = await harness.counter.spend({ subscriptionId, limits: { daily: 6, monthly: 100 } });
    expect(larger).toMatchObject({ granted: true, standing: { usedDaily: 6 } });
    const smaller = await harness.counter.spend({ subscriptionId, limits: { daily: 2, monthly: 100 } });
    expect(smaller).toMatchObject({ granted: false, exceeded: 'daily', standing: { usedDaily: 6 } });
  });

  it('judges spends that arrive together each by its own limits', async () => {
    const { harness, subscriptionId } = context();
    const limits = [LIMITS, LIMITS, { daily: 1, monthly: 1 }, LIMITS];
    const results = await Promise.all(limits.map((each) => harness.counter.spend({ subscriptionId, limits: each })));
    expect(results.map((result) => result.granted)).toEqual([true, true, false, true]);
  });
}

function describeModes(context: Context): void {
  it('counts test keys by themselves, with the same limits, and gives back to the one that was charged', async () => {
    const { harness, subscriptionId } = context();
    const testId = counterOf(subscriptionId, 'test');
    const rounds = await Promise.all([
      spendTimes(harness.counter, testId, LIMITS, 9),
      spendTimes(harness.otherNode, testId, LIMITS, 9),
      spendTimes(harness.counter, subscriptionId, LIMITS, 2),
    ]);
    expect([granted(rounds.slice(0, 2).flat()), granted(rounds.slice(2).flat())]).toEqual([5, 2]);
    const refund = { day: '2096-11-20', requestId: randomUUID(), dailyLimit: LIMITS.daily };
    await expect(harness.otherNode.refund({ subscriptionId: testId, ...refund })).resolves.toBe('refunded');
    await expect(harness.counter.refund({ subscriptionId, ...refund })).resolves.toBe('repeated');
    await expect(harness.otherNode.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 2, usedMonthly: 2 });
    await expect(harness.counter.readStanding(testId)).resolves.toMatchObject({ usedDaily: 4, usedMonthly: 4 });
  });

  it('lets the live day pass whole while test keys have used up theirs', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.otherNode, counterOf(subscriptionId, 'test'), LIMITS, 50);
    const results = await spendTimes(harness.counter, subscriptionId, LIMITS, 6);
    expect(results.map((result) => result.standing.usedDaily)).toEqual([1, 2, 3, 4, 5, 5]);
  });
}

function describeRefunds(context: Context): void {
  const day = '2096-11-20';
  const dailyLimit = LIMITS.daily;

  it('gives a unit back once a request', async () => {
    const { harness, subscriptionId } = context();
    const requestId = randomUUID();
    await spendTimes(harness.counter, subscriptionId, LIMITS, 5);
    const answers = await Promise.all(
      [harness.counter, harness.otherNode, harness.counter].map((node) => node.refund({ subscriptionId, day, requestId, dailyLimit })),
    );
    expect([...answers].sort()).toEqual(['refunded', 'repeated', 'repeated']);
    await expect(harness.counter.refund({ subscriptionId, day, requestId, dailyLimit })).resolves.toBe('repeated');
    await expect(harness.counter.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 4, usedMonthly: 4 });
    expect(granted(await spendTimes(harness.otherNode, subscriptionId, LIMITS, 3))).toBe(1);
  });

  it('gives a unit back to the day it was taken from, and to its month', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, LIMITS, 5);
    harness.setStoreClock('2096-11-21T00:00:01+05:30');
    await spendTimes(harness.counter, subscriptionId, LIMITS, 2);
    await expect(harness.counter.refund({ subscriptionId, day, requestId: randomUUID(), dailyLimit })).resolves.toBe('refunded');
    await expect(harness.counter.readStanding(subscriptionId)).resolves.toMatchObject({
      day: '2096-11-21',
      usedDaily: 2,
      usedMonthly: 6,
    });
  });

  it("leaves the new month alone when the last month's last day gets a unit back", async () => {
    const { harness, subscriptionId } = context();
    harness.setStoreClock('2096-11-30T23:59:00+05:30');
    await spendTimes(harness.counter, subscriptionId, LIMITS, 4);
    harness.setStoreClock('2096-12-01T00:01:00+05:30');
    await spendTimes(harness.counter, subscriptionId, LIMITS, 1);
    await expect(harness.counter.refund({ subscriptionId, day: '2096-11-30', requestId: randomUUID(), dailyLimit })).resolves.toBe(
      'refunded',
    );
    await expect(harness.counter.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 1, usedMonthly: 1 });
  });

  it('gives back no unit that was never taken', async () => {
    const { harness, subscriptionId } = context();
    await expect(harness.counter.refund({ subscriptionId, day, requestId: randomUUID(), dailyLimit })).resolves.toBe('uncharged');
    await spendTimes(harness.counter, subscriptionId, LIMITS, 1);
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => harness.counter.refund({ subscriptionId, day, requestId: randomUUID(), dailyLimit })),
    );
    expect([...answers].sort()).toEqual(['refunded', 'uncharged', 'uncharged']);
    await expect(harness.counter.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 0, usedMonthly: 0 });
    expect(granted(await spendTimes(harness.counter, subscriptionId, LIMITS, 9))).toBe(5);
  });

  it('refuses to refund a day before yesterday', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, LIMITS, 2);
    harness.setStoreClock('2096-11-22T00:00:01+05:30');
    await expect(harness.counter.refund({ subscriptionId, day, requestId: randomUUID(), dailyLimit })).resolves.toBe('uncharged');
  });

  it('refunds a unit that another node took a moment ago', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.otherNode, subscriptionId, LIMITS, 1);
    await expect(harness.counter.refund({ subscriptionId, day, requestId: randomUUID(), dailyLimit })).resolves.toBe('refunded');
    await expect(harness.otherNode.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 0, usedMonthly: 0 });
  });
}

function describeWholes(context: Context): void {
  const day = '2096-11-20';
  const limits = { daily: 250, monthly: 1_000 };

  it('takes all units of a request or none, and tells how many are left', async () => {
    const { harness, subscriptionId } = context();
    const take = () => harness.counter.spend({ subscriptionId, limits, units: 100 });
    expect([await take(), await take(), await take()]).toMatchObject([
      { granted: true, standing: { usedDaily: 100, usedMonthly: 100 } },
      { granted: true, standing: { usedDaily: 200, usedMonthly: 200 } },
      { granted: false, exceeded: 'daily', standing: { usedDaily: 200, usedMonthly: 200 } },
    ]);
    expect(granted(await spendTimes(harness.otherNode, subscriptionId, limits, 60))).toBe(50);
  });

  it('names the month when it is the month that holds too few', async () => {
    const { harness, subscriptionId } = context();
    const refused = await harness.counter.spend({ subscriptionId, limits: { daily: 1_000, monthly: 99 }, units: 100 });
    expect(refused).toMatchObject({ granted: false, exceeded: 'monthly', standing: { usedDaily: 0, usedMonthly: 0 } });
  });

  it('never grants a part, nor more than the limit, when requests of one unit and of many come at once on two nodes', async () => {
    const { harness, subscriptionId } = context();
    const nodeAt = (index: number): QuotaCounter => (index % 2 === 0 ? harness.counter : harness.otherNode);
    const asked = Array.from({ length: 120 }, (_, index) => (index % 3 === 0 ? 30 : 1));
    const results = await Promise.all(
      asked.map((units, index) => nodeAt(index).spend({ subscriptionId, limits: { daily: 100, monthly: 1_000 }, units })),
    );
    const taken = asked.reduce((sum, units, index) => sum + (results[index]?.granted === true ? units : 0), 0);
    await expect(harness.counter.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: taken, usedMonthly: taken });
    expect(taken).toBe(100);
  });

  it('gives all of them back once, to both windows', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.otherNode, subscriptionId, limits, 3);
    await harness.counter.spend({ subscriptionId, limits: { daily: 2_000, monthly: 3_000 }, units: 100 });
    const refund = { subscriptionId, day, requestId: randomUUID(), dailyLimit: 2_000, units: 100 };
    const outcomes = await Promise.all([harness.counter.refund(refund), harness.otherNode.refund(refund)]);
    expect([...outcomes].sort()).toEqual(['refunded', 'repeated']);
    await expect(harness.otherNode.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 3, usedMonthly: 3 });
  });

  it('gives a part of them back once, beside what failures give back', async () => {
    const { harness, subscriptionId } = context();
    await harness.counter.spend({ subscriptionId, limits: { daily: 250, monthly: 3_000 }, units: 100 });
    const part = { subscriptionId, day, requestId: `${randomUUID()}/part`, dailyLimit: 250, units: 99, isExempt: true };
    const outcomes = await Promise.all([harness.counter.refund(part), harness.otherNode.refund(part)]);
    expect([...outcomes].sort()).toEqual(['refunded', 'repeated']);
    await expect(harness.otherNode.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 1, usedMonthly: 1 });
    const failed = { subscriptionId, day, requestId: randomUUID(), dailyLimit: 250 };
    await expect(harness.counter.refund(failed)).resolves.toBe('refunded');
    // No more than was taken, whatever the day's end would allow.
    await expect(harness.counter.refund({ ...part, requestId: randomUUID() })).resolves.not.toBe('refunded');
  });

  it('counts every unit given back against a tenth of the day', async () => {
    const { harness, subscriptionId } = context();
    await harness.counter.spend({ subscriptionId, limits, units: 100 });
    const refund = (units: number) => harness.counter.refund({ subscriptionId, day, requestId: randomUUID(), dailyLimit: 250, units });
    expect([await refund(100), await refund(25), await refund(1)]).toEqual(['capped', 'refunded', 'capped']);
  });
}

function describeSettlements(context: Context): void {
  const day = '2096-11-20';
  const settle = (counter: QuotaCounter, units: number, more: { subscriptionId: string; day?: string; id?: string }) =>
    counter.settle({ day, id: randomUUID(), ...more, units });

  it('takes more than was taken, past the limit, once an id; then both nodes refuse', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, LIMITS, 2);
    const id = randomUUID();
    const nodes = [harness.counter, harness.otherNode, harness.counter];
    const outcomes = await Promise.all(nodes.map((node) => settle(node, 40, { subscriptionId, id })));
    expect([...outcomes].sort()).toEqual(['repeated', 'repeated', 'settled']);
    await expect(settle(harness.otherNode, 40, { subscriptionId, id })).resolves.toBe('repeated');
    for (const node of nodes) {
      expect(await node.spend({ subscriptionId, limits: LIMITS })).toMatchObject({
        granted: false,
        exceeded: 'daily',
        standing: { usedDaily: 42, usedMonthly: 42 },
      });
    }
    const refused = await harness.counter.spend({ subscriptionId, limits: { daily: 100, monthly: 42 } });
    expect(refused).toMatchObject({ granted: false, exceeded: 'monthly' });
    expect(granted(await spendTimes(harness.otherNode, subscriptionId, { daily: 44, monthly: 100 }, 5))).toBe(2);
  });

  it('gives back what was taken too much, without a cap, but never more than was taken', async () => {
    const { harness, subscriptionId } = context();
    await harness.counter.spend({ subscriptionId, limits: { daily: 250, monthly: 1_000 }, units: 100 });
    await expect(settle(harness.otherNode, -90, { subscriptionId })).resolves.toBe('settled');
    await expect(settle(harness.counter, -11, { subscriptionId })).resolves.toBe('uncharged');
    await expect(harness.counter.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 10, usedMonthly: 10 });
    // The cap of failures is whole.
    const failed = { subscriptionId, day, dailyLimit: LIMITS.daily };
    await expect(harness.counter.refund({ ...failed, requestId: randomUUID(), units: 10 })).resolves.toBe('refunded');
  });

  it('settles on the day of the request, until the day after', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, LIMITS, 1);
    harness.setStoreClock('2096-11-21T00:00:01+05:30');
    await spendTimes(harness.counter, subscriptionId, LIMITS, 1);
    await expect(settle(harness.otherNode, 7, { subscriptionId })).resolves.toBe('settled');
    const today = { day: '2096-11-21', usedDaily: 1, usedMonthly: 9 };
    await expect(harness.counter.readStanding(subscriptionId)).resolves.toMatchObject(today);
    harness.setStoreClock('2096-11-22T00:00:01+05:30');
    await expect(settle(harness.counter, 7, { subscriptionId })).resolves.toBe('uncharged');
  });

  it('settles nothing of a day from which nothing was taken', async () => {
    const { harness, subscriptionId } = context();
    await expect(settle(harness.counter, 7, { subscriptionId })).resolves.toBe('uncharged');
    await expect(harness.otherNode.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 0, usedMonthly: 0 });
  });
}

function describeRefundCap(context: Context): void {
  const day = '2096-11-20';
  const limits = { daily: 100, monthly: 1_000 };
  const refunds = (counter: QuotaCounter, { subscriptionId, dailyLimit = limits.daily, times }: Refunds) =>
    Promise.all(Array.from({ length: times }, () => counter.refund({ subscriptionId, day, requestId: randomUUID(), dailyLimit })));

  it('gives back a tenth of the daily limit and not one unit more', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, limits, 30);
    expect(await refunds(harness.counter, { subscriptionId, times: 10 })).toEqual(Array(10).fill('refunded'));
    await expect(refunds(harness.counter, { subscriptionId, times: 1 })).resolves.toEqual(['capped']);
    await expect(harness.counter.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 20, usedMonthly: 20 });
  });

  it('gives back exactly as many when many more are asked for at once, on two nodes', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, { daily: 250, monthly: 1_000 }, 80);
    const asked = { subscriptionId, dailyLimit: 250, times: 40 };
    const outcomes = (await Promise.all([refunds(harness.counter, asked), refunds(harness.otherNode, asked)])).flat();
    expect(outcomes.filter((each) => each === 'refunded')).toHaveLength(25);
    expect(outcomes.filter((each) => each === 'capped')).toHaveLength(55);
    await expect(harness.otherNode.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 55 });
  });

  it('starts again with the next day', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, limits, 20);
    await refunds(harness.counter, { subscriptionId, times: 11 });
    harness.setStoreClock('2096-11-21T12:00:00+05:30');
    await spendTimes(harness.counter, subscriptionId, limits, 1);
    const next = { subscriptionId, day: '2096-11-21', requestId: randomUUID(), dailyLimit: limits.daily };
    await expect(harness.counter.refund(next)).resolves.toBe('refunded');
  });

  it('says of a request given back before the end that it was, and of one after it that it was not', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, limits, 30);
    const [early, late] = [randomUUID(), randomUUID()];
    const refund = (requestId: string) => harness.counter.refund({ subscriptionId, day, requestId, dailyLimit: limits.daily });
    await refund(early);
    await refunds(harness.otherNode, { subscriptionId, times: 9 });
    expect([await refund(late), await refund(late), await refund(early)]).toEqual(['capped', 'capped', 'repeated']);
  });

  it('gives back what the catalogue exempts up to the daily limit, beside the failures', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, { daily: 1_000, monthly: 1_000 }, 150);
    const exempt = (counter: QuotaCounter, times: number) =>
      Promise.all(
        Array.from({ length: times }, () =>
          counter.refund({ subscriptionId, day, requestId: randomUUID(), dailyLimit: limits.daily, isExempt: true }),
        ),
      );
    const outcomes = (await Promise.all([exempt(harness.counter, 60), exempt(harness.otherNode, 60)])).flat();
    expect(outcomes.filter((each) => each === 'refunded')).toHaveLength(100);
    expect(outcomes.filter((each) => each === 'capped')).toHaveLength(20);
    expect(await refunds(harness.otherNode, { subscriptionId, times: 10 })).toEqual(Array(10).fill('refunded'));
    await expect(refunds(harness.counter, { subscriptionId, times: 1 })).resolves.toEqual(['capped']);
    await expect(harness.counter.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 40 });
  });
}

interface Refunds {
  readonly subscriptionId: string;
  readonly dailyLimit?: number;
  readonly times: number;
}

function describeWindows(context: Context): void {
  it('starts a day with a full daily limit and keeps the month', async () => {
    const { harness, subscriptionId } = context();
    await spendTimes(harness.counter, subscriptionId, LIMITS, 9);
    harness.setStoreClock('2096-11-21T00:00:00+05:30');
    const [first] = await spendTimes(harness.counter, subscriptionId, LIMITS, 1);
    expect(first).toMatchObject({ granted: true, standing: { day: '2096-11-21', usedDaily: 1, usedMonthly: 6 } });
  });

  it('starts a month with full limits', async () => {
    const { harness, subscriptionId } = context();
    const limits = { daily: 5, monthly: 5 };
    expect(granted(await spendTimes(harness.counter, subscriptionId, limits, 9))).toBe(5);
    harness.setStoreClock('2096-12-01T00:00:00+05:30');
    const [first] = await spendTimes(harness.counter, subscriptionId, limits, 1);
    expect(first).toMatchObject({ granted: true, standing: { month: '2096-12', usedDaily: 1, usedMonthly: 1 } });
  });

  it('spreads a month over its days', async () => {
    const { harness, subscriptionId } = context();
    const limits = { daily: 4, monthly: 10 };
    const passed: number[] = [];
    for (const day of [10, 11, 12, 13]) {
      harness.setStoreClock(`2096-11-${day}T09:00:00+05:30`);
      passed.push(granted(await spendTimes(harness.counter, subscriptionId, limits, 6)));
    }
    expect(passed).toEqual([4, 4, 2, 0]);
  });

  it('goes by the clock of the store when the nodes are years off', async () => {
    const { harness, subscriptionId } = context();
    harness.setStoreClock('2031-03-09T23:59:30+05:30');
    const results = await Promise.all([harness.counter, harness.otherNode].map((node) => node.spend({ subscriptionId, limits: LIMITS })));
    expect(results.map((result) => result.standing.day)).toEqual(['2031-03-09', '2031-03-09']);
    expect(Math.max(...results.map((result) => result.standing.usedDaily))).toBe(2);
  });

  it('reads without counting, also what was never used', async () => {
    const { harness, subscriptionId } = context();
    const midnight = Date.parse('2096-11-20T00:00:00+05:30') / 1000;
    await expect(harness.counter.readStanding(subscriptionId)).resolves.toEqual({
      day: '2096-11-20',
      dayStartsAt: midnight,
      dayEndsAt: midnight + 86_400,
      month: '2096-11',
      monthStartsAt: Date.parse('2096-11-01T00:00:00+05:30') / 1000,
      monthEndsAt: Date.parse('2096-12-01T00:00:00+05:30') / 1000,
      usedDaily: 0,
      usedMonthly: 0,
    });
  });
}

/** `before` is shortly before a day ends, `after` the moment the next one starts; `hours` is how long that one is. */
const MIDNIGHTS = [
  { timeZone: 'UTC', before: '2026-06-14T23:59:30Z', after: '2026-06-15T00:00:00Z', day: '2026-06-15', hours: 24 },
  { timeZone: 'Asia/Kolkata', before: '2026-06-14T18:29:30Z', after: '2026-06-14T18:30:00Z', day: '2026-06-15', hours: 24 },
  { timeZone: 'America/New_York', before: '2026-03-08T04:59:30Z', after: '2026-03-08T05:00:00Z', day: '2026-03-08', hours: 23 },
  { timeZone: 'America/New_York', before: '2026-11-01T03:59:30Z', after: '2026-11-01T04:00:00Z', day: '2026-11-01', hours: 25 },
];

function describeZones(name: string, create: (timeZone: string) => Promise<QuotaHarness>): void {
  describe.each(MIDNIGHTS)(`${name}: midnight in $timeZone`, ({ timeZone, before, after, day, hours }) => {
    it(`starts ${day}, a day of ${hours} hours`, async () => {
      const harness = await create(timeZone);
      const subscriptionId = randomUUID();
      try {
        harness.setStoreClock(before);
        expect((await harness.counter.spend({ subscriptionId, limits: LIMITS })).standing.day).not.toBe(day);
        harness.setStoreClock(after);
        const { standing } = await harness.counter.spend({ subscriptionId, limits: LIMITS });
        expect(standing).toMatchObject({ day, usedDaily: 1 });
        expect((standing.dayEndsAt - standing.dayStartsAt) / 3600).toBe(hours);
      } finally {
        await harness.close();
      }
    });
  });
}
