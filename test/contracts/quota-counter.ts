import { randomUUID } from 'node:crypto';
import { type SpendResult } from '../../plugins/core/ports';
import { restIdOf } from '../../plugins/core/catalogue/refunds';
import { counterOf } from '../../plugins/core/access/subscription';
import { useOpened } from '../support/opened';
import { type QuotaHarness } from './quota-node';
import { LIMITS, Node, TODAY } from './quota-node';
import { describeRates } from './rates';

/** `before` is shortly before a day ends, `after` the moment the next one starts; `hours` is how long that one is. */
const MIDNIGHTS = [
  { timeZone: 'UTC', before: '2026-06-14T23:59:30Z', after: '2026-06-15T00:00:00Z', day: '2026-06-15', hours: 24 },
  { timeZone: 'Asia/Kolkata', before: '2026-06-14T18:29:30Z', after: '2026-06-14T18:30:00Z', day: '2026-06-15', hours: 24 },
  { timeZone: 'America/New_York', before: '2026-03-08T04:59:30Z', after: '2026-03-08T05:00:00Z', day: '2026-03-08', hours: 23 },
  { timeZone: 'America/New_York', before: '2026-11-01T03:59:30Z', after: '2026-11-01T04:00:00Z', day: '2026-11-01', hours: 25 },
];

/** What every quota counter guarantees of days in the seller's time zone. */
function describeMidnights(name: string, create: (timeZone: string) => Promise<QuotaHarness>): void {
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

/** Both on the store of the suite that runs, with a subscription that is new in each test. */
let node: Node;
let other: Node;
let setStoreClock: (iso: string) => void;

function granted(results: readonly SpendResult[]): number {
  return results.filter((result) => result.granted).length;
}

/** What every quota counter guarantees. */
export function describeQuotaCounter(name: string, create: (timeZone: string) => Promise<QuotaHarness>): void {
  describe(`${name}: the quota counter`, () => {
    const harness = useOpened(() => create('Asia/Kolkata'));
    beforeEach(() => {
      const subscriptionId = randomUUID();
      node = new Node(harness.counter, subscriptionId);
      other = new Node(harness.otherNode, subscriptionId);
      setStoreClock = (iso) => harness.setStoreClock(iso);
      setStoreClock(`${TODAY}T12:00:00+05:30`);
    });

    describeLimits();
    describeRefunds();
    describeWholes();
    describeSettlements();
    describeRefundCap();
    describeWindows();
  });
  describeMidnights(name, create);
  describeRates(name, create);
}

function describeLimits(): void {
  it('grants as many units as the day holds and names the daily window when it refuses', async () => {
    for (let used = 1; used <= 5; used++) {
      const standing = { usedDaily: used, usedMonthly: used };
      expect(await node.spend()).toMatchObject({ granted: true, exceeded: undefined, standing });
    }
    expect(await node.spend()).toMatchObject({ granted: false, exceeded: 'daily', standing: { usedDaily: 5, usedMonthly: 5 } });
  });

  it('takes a unit from day and month together or from neither', async () => {
    const limits = { daily: 10, monthly: 3 };
    await node.spends(3, limits);
    const standing = { usedDaily: 3, usedMonthly: 3 };
    expect(await node.spend(limits)).toMatchObject({ granted: false, exceeded: 'monthly', standing });
  });

  it('names the month when both windows are used up', async () => {
    const results = await node.spends(3, { daily: 2, monthly: 2 });
    expect(results.map((result) => result.exceeded)).toEqual([undefined, undefined, 'monthly']);
  });

  it('denies everything at a limit of zero', async () => {
    expect(granted(await node.spends(2, { daily: 0, monthly: 0 }))).toBe(0);
  });

  it('lets exactly as many of many concurrent spends pass as are left, on two nodes, and counts no denial', async () => {
    const limits = { daily: 37, monthly: 1_000 };
    const rounds = await Promise.all([node.spends(60, limits), other.spends(60, limits)]);
    expect(granted(rounds.flat())).toBe(37);
    expect(await other.used()).toEqual([37, 37]);
  });

  it('serves those who came first and tells each where it stood', async () => {
    const results = await node.spends(5, { daily: 3, monthly: 100 });
    expect(results.map((result) => result.granted)).toEqual([true, true, true, false, false]);
    expect(results.map((result) => result.standing.usedDaily)).toEqual([1, 2, 3, 3, 3]);
  });

  it('counts each subscription by itself', async () => {
    const nodes = Array.from({ length: 30 }, () => node.of(randomUUID()));
    const results = await Promise.all(nodes.map((each) => each.spends(3, { daily: 2, monthly: 100 })));
    expect(results.map(granted)).toEqual(nodes.map(() => 2));
  });

  it('applies a changed plan to the next spend and keeps what was used', async () => {
    await node.spends(5);
    expect(await node.spend({ daily: 6, monthly: 100 })).toMatchObject({ granted: true, standing: { usedDaily: 6 } });
    const refused = { granted: false, exceeded: 'daily', standing: { usedDaily: 6 } };
    expect(await node.spend({ daily: 2, monthly: 100 })).toMatchObject(refused);
  });

  it('judges spends that arrive together each by its own limits', async () => {
    const limits = [LIMITS, LIMITS, { daily: 1, monthly: 1 }, LIMITS];
    const results = await Promise.all(limits.map((each) => node.spend(each)));
    expect(results.map((result) => result.granted)).toEqual([true, true, false, true]);
  });

  it('counts test keys by themselves, with the same limits, and gives back to the one that was charged', async () => {
    const [test, otherTest] = [node, other].map((each) => each.of(counterOf(each.subscriptionId, 'test'))) as [Node, Node];
    const [first, second, live] = await Promise.all([test.spends(9), otherTest.spends(9), node.spends(2)]);
    expect([granted([...first, ...second]), granted(live)]).toEqual([5, 2]);
    const requestId = randomUUID();
    expect([await otherTest.refund({ requestId }), await node.refund({ requestId })]).toEqual(['refunded', 'repeated']);
    expect(await other.used()).toEqual([2, 2]);
    expect(await test.used()).toEqual([4, 4]);
  });
}

function describeRefunds(): void {
  it('gives a unit back once a request', async () => {
    const requestId = randomUUID();
    await node.spends(5);
    const answers = await Promise.all([node, other, node].map((each) => each.refund({ requestId })));
    expect([...answers].sort()).toEqual(['refunded', 'repeated', 'repeated']);
    expect(await node.refund({ requestId })).toBe('repeated');
    expect(await node.used()).toEqual([4, 4]);
    expect(granted(await other.spends(3))).toBe(1);
  });

  it('gives a unit back to the day it was taken from, and to its month', async () => {
    await node.spends(5);
    setStoreClock('2096-11-21T00:00:01+05:30');
    await node.spends(2);
    expect(await node.refund()).toBe('refunded');
    expect(await node.standing()).toMatchObject({ day: '2096-11-21', usedDaily: 2, usedMonthly: 6 });
  });

  it("leaves the new month alone when the last month's last day gets a unit back", async () => {
    setStoreClock('2096-11-30T23:59:00+05:30');
    await node.spends(4);
    setStoreClock('2096-12-01T00:01:00+05:30');
    await node.spend();
    expect(await node.refund({ day: '2096-11-30' })).toBe('refunded');
    expect(await node.used()).toEqual([1, 1]);
  });

  it('gives back no unit that was never taken', async () => {
    expect(await node.refund()).toBe('uncharged');
    await node.spend();
    expect((await node.refunds(3, {})).sort()).toEqual(['refunded', 'uncharged', 'uncharged']);
    expect(await node.used()).toEqual([0, 0]);
    expect(granted(await node.spends(9))).toBe(5);
  });

  it('refuses to refund a day before yesterday', async () => {
    await node.spends(2);
    setStoreClock('2096-11-22T00:00:01+05:30');
    expect(await node.refund()).toBe('uncharged');
  });

  it('refunds a unit that another node took a moment ago', async () => {
    await other.spend();
    expect(await node.refund()).toBe('refunded');
    expect(await other.used()).toEqual([0, 0]);
  });
}

function describeWholes(): void {
  const limits = { daily: 250, monthly: 1_000 };

  it('takes all units of a request or none, and tells how many are left', async () => {
    const take = () => node.spend(limits, 100);
    expect([await take(), await take(), await take()]).toMatchObject([
      { granted: true, standing: { usedDaily: 100, usedMonthly: 100 } },
      { granted: true, standing: { usedDaily: 200, usedMonthly: 200 } },
      { granted: false, exceeded: 'daily', standing: { usedDaily: 200, usedMonthly: 200 } },
    ]);
    expect(granted(await other.spends(60, limits))).toBe(50);
  });

  it('names the month when it is the month that holds too few', async () => {
    const refused = { granted: false, exceeded: 'monthly', standing: { usedDaily: 0, usedMonthly: 0 } };
    expect(await node.spend({ daily: 1_000, monthly: 99 }, 100)).toMatchObject(refused);
  });

  it('never grants a part, nor more than the limit, when requests of one unit and of many come at once on two nodes', async () => {
    const asked = Array.from({ length: 120 }, (_, index) => (index % 3 === 0 ? 30 : 1));
    const results = await Promise.all(
      asked.map((units, index) => (index % 2 === 0 ? node : other).spend({ daily: 100, monthly: 1_000 }, units)),
    );
    const taken = asked.reduce((sum, units, index) => sum + (results[index]?.granted === true ? units : 0), 0);
    expect(await node.used()).toEqual([taken, taken]);
    expect(taken).toBe(100);
  });

  it('gives all of them back once, to both windows', async () => {
    await other.spends(3, limits);
    await node.spend({ daily: 2_000, monthly: 3_000 }, 100);
    const refund = { requestId: randomUUID(), dailyLimit: 2_000, units: 100 };
    const outcomes = await Promise.all([node.refund(refund), other.refund(refund)]);
    expect([...outcomes].sort()).toEqual(['refunded', 'repeated']);
    expect(await other.used()).toEqual([3, 3]);
  });

  it('gives back once what was reserved and not used, beside what failures give back', async () => {
    await node.spend({ daily: 250, monthly: 3_000 }, 100);
    const rest = { requestId: restIdOf(randomUUID()), dailyLimit: 250, units: 99, isRest: true };
    const outcomes = await Promise.all([node.refund(rest), other.refund(rest)]);
    expect([...outcomes].sort()).toEqual(['refunded', 'repeated']);
    expect(await node.used()).toEqual([1, 1]);
    expect(await node.refund({ dailyLimit: 250 })).toBe('refunded');
    // No more than was taken.
    expect(await node.refund({ ...rest, requestId: restIdOf(randomUUID()) })).not.toBe('refunded');
  });

  it('gives back what was not used all day long, and leaves refunds and exemptions their own end of the day', async () => {
    const limits = { daily: 100, monthly: 9_000 };
    // Each takes all that is left with the reserve, and uses one of it.
    for (let used = 0; used < 20; used++) {
      expect((await other.spend(limits, 80)).granted).toBe(true);
      expect(await node.refund({ requestId: restIdOf(randomUUID()), dailyLimit: 100, units: 79, isRest: true })).toBe('refunded');
    }
    expect(await other.used()).toEqual([20, 20]);
    // The reserve fits exactly; then it does not.
    expect((await node.spend(limits, 80)).granted).toBe(true);
    expect((await node.spend(limits, 80)).granted).toBe(false);
    expect(await node.refund({ dailyLimit: 100, units: 10 })).toBe('refunded');
    expect(await node.refund({ dailyLimit: 100 })).toBe('capped');
    expect(await node.refund({ dailyLimit: 100, units: 80, isExempt: true })).toBe('refunded');
  });

  it('counts every unit given back against a tenth of the day', async () => {
    await node.spend(limits, 100);
    const refund = (units: number) => node.refund({ dailyLimit: 250, units });
    expect([await refund(100), await refund(25), await refund(1)]).toEqual(['capped', 'refunded', 'capped']);
  });
}

function describeSettlements(): void {
  it('takes more than was taken, past the limit, once an id; then both nodes refuse', async () => {
    await node.spends(2);
    const id = randomUUID();
    const outcomes = await Promise.all([node, other, node].map((each) => each.settle(40, { id })));
    expect([...outcomes].sort()).toEqual(['repeated', 'repeated', 'settled']);
    expect(await other.settle(40, { id })).toBe('repeated');
    const refused = { granted: false, exceeded: 'daily', standing: { usedDaily: 42, usedMonthly: 42 } };
    expect([await node.spend(), await other.spend()]).toMatchObject([refused, refused]);
    expect(await node.spend({ daily: 100, monthly: 42 })).toMatchObject({ granted: false, exceeded: 'monthly' });
    expect(granted(await other.spends(5, { daily: 44, monthly: 100 }))).toBe(2);
  });

  it.each([0, -1, -90])('settles nothing where %i more units are to be taken', async (units) => {
    await node.spend({ daily: 250, monthly: 1_000 }, 100);
    await expect(other.settle(units)).rejects.toThrow();
    expect(await node.used()).toEqual([100, 100]);
  });

  it('settles on the day of the request, until the day after', async () => {
    await node.spend();
    setStoreClock('2096-11-21T00:00:01+05:30');
    await node.spend();
    expect(await other.settle(7)).toBe('settled');
    expect(await node.standing()).toMatchObject({ day: '2096-11-21', usedDaily: 1, usedMonthly: 9 });
    setStoreClock('2096-11-22T00:00:01+05:30');
    expect(await node.settle(7)).toBe('uncharged');
  });

  it('settles nothing of a day from which nothing was taken', async () => {
    expect(await node.settle(7)).toBe('uncharged');
    expect(await other.used()).toEqual([0, 0]);
  });
}

function describeRefundCap(): void {
  const limits = { daily: 100, monthly: 1_000 };
  const failed = { dailyLimit: limits.daily };
  const countOf = (outcomes: readonly string[]) => ['refunded', 'capped'].map((what) => outcomes.filter((each) => each === what).length);

  it('gives back a tenth of the daily limit and not one unit more', async () => {
    await node.spends(30, limits);
    expect(countOf(await node.refunds(10, failed))).toEqual([10, 0]);
    expect(await node.refund(failed)).toBe('capped');
    expect(await node.used()).toEqual([20, 20]);
  });

  it('gives back exactly as many when many more are asked for at once, on two nodes', async () => {
    await node.spends(80, { daily: 250, monthly: 1_000 });
    const asked = { dailyLimit: 250 };
    const outcomes = (await Promise.all([node.refunds(40, asked), other.refunds(40, asked)])).flat();
    expect(countOf(outcomes)).toEqual([25, 55]);
    expect(await other.used()).toEqual([55, 55]);
  });

  it('starts again with the next day', async () => {
    await node.spends(20, limits);
    await node.refunds(11, failed);
    setStoreClock('2096-11-21T12:00:00+05:30');
    await node.spend(limits);
    expect(await node.refund({ ...failed, day: '2096-11-21' })).toBe('refunded');
  });

  it('says of a request given back before the end that it was, and of one after it that it was not', async () => {
    await node.spends(30, limits);
    const [early, late] = [randomUUID(), randomUUID()];
    const refund = (requestId: string) => node.refund({ ...failed, requestId });
    await refund(early);
    await other.refunds(9, failed);
    expect([await refund(late), await refund(late), await refund(early)]).toEqual(['capped', 'capped', 'repeated']);
  });

  it('gives back what the catalogue exempts up to the daily limit, beside the failures', async () => {
    await node.spends(150, { daily: 1_000, monthly: 1_000 });
    const exempt = { ...failed, isExempt: true };
    const outcomes = (await Promise.all([node.refunds(60, exempt), other.refunds(60, exempt)])).flat();
    expect(countOf(outcomes)).toEqual([100, 20]);
    expect(countOf(await other.refunds(10, failed))).toEqual([10, 0]);
    expect(await node.refund(failed)).toBe('capped');
    expect(await node.used()).toEqual([40, 40]);
  });
}

function describeWindows(): void {
  it('starts a day with a full daily limit and keeps the month', async () => {
    await node.spends(9);
    setStoreClock('2096-11-21T00:00:00+05:30');
    expect(await node.spend()).toMatchObject({ granted: true, standing: { day: '2096-11-21', usedDaily: 1, usedMonthly: 6 } });
  });

  it('starts a month with full limits', async () => {
    const limits = { daily: 5, monthly: 5 };
    expect(granted(await node.spends(9, limits))).toBe(5);
    setStoreClock('2096-12-01T00:00:00+05:30');
    expect(await node.spend(limits)).toMatchObject({ granted: true, standing: { month: '2096-12', usedDaily: 1, usedMonthly: 1 } });
  });

  it('spreads a month over its days', async () => {
    const passed: number[] = [];
    for (const day of [10, 11, 12, 13]) {
      setStoreClock(`2096-11-${day}T09:00:00+05:30`);
      passed.push(granted(await node.spends(6, { daily: 4, monthly: 10 })));
    }
    expect(passed).toEqual([4, 4, 2, 0]);
  });

  it('goes by the clock of the store when the nodes are years off', async () => {
    setStoreClock('2031-03-09T23:59:30+05:30');
    const results = await Promise.all([node.spend(), other.spend()]);
    expect(results.map((result) => result.standing.day)).toEqual(['2031-03-09', '2031-03-09']);
    expect(Math.max(...results.map((result) => result.standing.usedDaily))).toBe(2);
  });

  it('reads without counting, also what was never used', async () => {
    const midnight = Date.parse('2096-11-20T00:00:00+05:30') / 1000;
    expect(await node.standing()).toEqual({
      day: TODAY,
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
