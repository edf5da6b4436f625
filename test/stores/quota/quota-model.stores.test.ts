import { randomUUID } from 'node:crypto';
import { type QuotaLimits } from '../../../plugins/core/catalogue/catalogue';
import { type KeyMode, type SettlementOutcome } from '../../../plugins/core/ports';
import { decideSpend } from '../../../plugins/core/access/quota';
import { counterOf } from '../../../plugins/core/access/subscription';
import { mostRefundsOf, type RefundOutcome } from '../../../plugins/core/catalogue/refunds';
import { type QuotaStore } from '../../../plugins/stores/quota-store';
import { eventually } from '../../support/eventually';
import { openedForTests } from '../../support/opened';
import { useDatabase } from '../../support/postgres/use-database';
import { type TestRedis, startTestRedis } from '../../support/redis/redis';
import { StoreClock, storeNode } from './harness';
import { fc, propertyRuns } from '../../support/fast-check';

/**
 * A failure, or an order of acts that does not end, is reported with its acts at once. To look for a shorter order would take minutes of
 * Redis starts from stores that the failure left in another state, and jest would report no more than its own time-out.
 */
const REPORTS_AT_ONCE = { endOnFailure: true, timeout: 120_000 };

const LIMITS: QuotaLimits[] = [
  { daily: 10, monthly: 25 },
  { daily: 4, monthly: 25 },
  { daily: 30, monthly: 30 },
];

type Action =
  | { kind: 'spend'; units: number; mode: KeyMode }
  | { kind: 'spend-whole'; units: number; mode: KeyMode }
  | { kind: 'refund'; request: number; isExempt: boolean; mode: KeyMode }
  | { kind: 'refund-unknown'; mode: KeyMode }
  | { kind: 'settle'; request: number; units: number; mode: KeyMode }
  | { kind: 'plan'; limits: number }
  | { kind: 'next-day' }
  | { kind: 'empty-redis' }
  | { kind: 'kill-redis' }
  | { kind: 'start-redis'; wait: boolean };

const MODES = ['live', 'test'] as const;
const mode: fc.Arbitrary<KeyMode> = fc.constantFrom('live', 'live', 'test');

const counting: fc.Arbitrary<Action>[] = [
  fc.record({ kind: fc.constant('spend' as const), units: fc.integer({ min: 1, max: 8 }), mode }),
  fc.record({ kind: fc.constant('spend' as const), units: fc.integer({ min: 1, max: 8 }), mode }),
  fc.record({ kind: fc.constant('spend-whole' as const), units: fc.integer({ min: 2, max: 8 }), mode }),
  fc.record({ kind: fc.constant('refund' as const), request: fc.nat(40), isExempt: fc.boolean(), mode }),
  fc.record({ kind: fc.constant('refund-unknown' as const), mode }),
  fc.record({ kind: fc.constant('settle' as const), request: fc.nat(40), units: fc.integer({ min: 1, max: 30 }), mode }),
  fc.record({ kind: fc.constant('plan' as const), limits: fc.nat(LIMITS.length - 1) }),
  fc.constant({ kind: 'next-day' as const }),
];
const losing: fc.Arbitrary<Action>[] = [
  fc.constant({ kind: 'empty-redis' as const }),
  fc.constant({ kind: 'kill-redis' as const }),
  fc.record({ kind: fc.constant('start-redis' as const), wait: fc.boolean() }),
];

/** What a counter should say, in plain sums. */
class Model {
  limits: QuotaLimits = { daily: 10, monthly: 25 };
  day = 0;
  /** One entry a granted request: how many units it took, and from which day. */
  readonly granted: { day: number; units: number; isRefunded: boolean; isExempt?: boolean }[] = [];
  readonly settled: { day: number; units: number }[] = [];

  get standing(): { usedDaily: number; usedMonthly: number } {
    const inMonth = ({ day }: { day: number }): boolean => monthOfDay(day) === monthOfDay(this.day);
    return {
      usedDaily: this.usedOn(this.day),
      usedMonthly: sumOf(this.counted.filter(inMonth)),
    };
  }

  private get counted(): { day: number; units: number }[] {
    return [...this.granted.filter((each) => !each.isRefunded), ...this.settled];
  }

  private usedOn(day: number): number {
    return sumOf(this.counted.filter((each) => each.day === day));
  }

  spend(units: number): number {
    const { granted } = decideSpend(this.standing, this.limits, units);
    for (let count = 0; count < granted; count++) this.granted.push({ day: this.day, units: 1, isRefunded: false });
    return granted;
  }

  spendWhole(units: number): boolean {
    const isGranted = decideSpend(this.standing, this.limits, units).granted === units;
    if (isGranted) this.granted.push({ day: this.day, units, isRefunded: false });
    return isGranted;
  }

  settle(index: number, units: number): SettlementOutcome {
    const taken = this.granted[index];
    if (!taken || taken.day < this.day - 1) return 'uncharged';
    this.settled.push({ day: taken.day, units });
    return 'settled';
  }

  refund(index: number, isExempt: boolean): RefundOutcome {
    const taken = this.granted[index];
    if (!taken || taken.day < this.day - 1) return 'uncharged';
    if (taken.isRefunded) return 'repeated';
    const refunded = this.granted.filter((each) => each.day === taken.day && each.isRefunded && each.isExempt === isExempt);
    if (sumOf(refunded) + taken.units > mostRefundsOf(this.limits.daily, isExempt)) return 'capped';
    if (this.usedOn(taken.day) < taken.units) return 'uncharged';
    Object.assign(taken, { isRefunded: true, isExempt });
    return 'refunded';
  }
}

function sumOf(granted: readonly { units: number }[]): number {
  return granted.reduce((sum, { units }) => sum + units, 0);
}

/** One for live keys and one for test keys. */
type Models = Readonly<Record<KeyMode, Model>>;

/** Day 0 is 26 November, so that runs of some days cross into December. */
const FIRST = Date.UTC(2026, 10, 26);
const dateOfDay = (day: number): string => new Date(FIRST + day * 86_400_000).toISOString().slice(0, 10);
const monthOfDay = (day: number): string => dateOfDay(day).slice(0, 7);

describe('any order of spends, refunds, plan changes and day turns', () => {
  const opened = openedForTests();
  const database = useDatabase();
  let redis: TestRedis;
  let nodes: QuotaStore[];
  let isUp = true;
  const storeClock = new StoreClock();
  beforeAll(async () => {
    redis = await opened.keep(startTestRedis({ persistent: true }));
    const options = { pool: database.pool, redisUrl: redis.url, storeClock };
    nodes = await Promise.all([1, 2].map(() => opened.keep(storeNode(options))));
  });

  async function disturb(action: Action): Promise<void> {
    if (action.kind === 'empty-redis' && isUp) await redis.flush();
    if (action.kind === 'kill-redis' && isUp) {
      isUp = false;
      await redis.kill();
    }
    if (action.kind === 'start-redis' && !isUp) {
      isUp = true;
      await redis.start();
      if (action.wait) await eventually(() => nodes.every((node) => node.stats().storeInUse === 'redis'));
    }
  }

  async function spendAndRefund(
    action: Action,
    models: Models,
    ids: { run: string; subscriptionId: string; node: QuotaStore },
  ): Promise<void> {
    if (!('mode' in action)) return;
    const { counter } = ids.node;
    const model = models[action.mode];
    const subscriptionId = counterOf(ids.subscriptionId, action.mode);
    const dailyLimit = model.limits.daily;
    if (action.kind === 'spend') {
      const { limits } = model;
      const results = await Promise.all(Array.from({ length: action.units }, () => counter.spend({ subscriptionId, limits })));
      expect(results.filter((result) => result.granted)).toHaveLength(model.spend(action.units));
    }
    if (action.kind === 'spend-whole') {
      const { granted } = await counter.spend({ subscriptionId, limits: model.limits, units: action.units });
      expect(granted).toBe(model.spendWhole(action.units));
    }
    if (action.kind === 'refund') {
      const taken = model.granted[action.request];
      const day = dateOfDay(taken?.day ?? model.day);
      const { request, isExempt } = action;
      const refund = { subscriptionId, day, requestId: `${ids.run}-${action.mode}-${request}`, dailyLimit, units: taken?.units, isExempt };
      if (taken) expect(await counter.refund(refund)).toBe(model.refund(request, isExempt));
    }
    if (action.kind === 'settle') {
      const { request, units } = action;
      const taken = model.granted[request];
      const settlement = { subscriptionId, day: dateOfDay(taken?.day ?? model.day), id: randomUUID(), units };
      if (taken) expect(await counter.settle(settlement)).toBe(model.settle(request, units));
    }
    if (action.kind === 'refund-unknown' && model.standing.usedDaily === 0) {
      expect(await counter.refund({ subscriptionId, day: dateOfDay(model.day), requestId: randomUUID(), dailyLimit })).toBe('uncharged');
    }
  }

  async function play(actions: readonly Action[], nodeOf: (step: number) => QuotaStore | undefined): Promise<void> {
    const models: Models = { live: new Model(), test: new Model() };
    const ids = { run: randomUUID(), subscriptionId: randomUUID() };
    storeClock.set(`${dateOfDay(0)}T12:00:00+05:30`);
    for (const [step, action] of actions.entries()) {
      const node = nodeOf(step);
      if (!node) throw new Error('no node');
      await disturb(action);
      await spendAndRefund(action, models, { ...ids, node });
      for (const each of MODES) {
        if (action.kind === 'plan') models[each].limits = LIMITS[action.limits] ?? models[each].limits;
        if (action.kind === 'next-day') models[each].day++;
      }
      if (action.kind === 'next-day') storeClock.set(`${dateOfDay(models.live.day)}T12:00:00+05:30`);
      // A read may mend what it finds: it does not stand between all acts.
      for (const each of step % 3 === 2 || step === actions.length - 1 ? MODES : []) {
        expect(await node.counter.readStanding(counterOf(ids.subscriptionId, each))).toMatchObject(models[each].standing);
      }
    }
  }

  it('counts like plain sums, on two nodes in turn', async () => {
    const actions = fc.array(fc.oneof(...counting), { minLength: 10, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(actions, (each) => play(each, (step) => nodes[step % 2])),
      { ...REPORTS_AT_ONCE, numRuns: propertyRuns(60) },
    );
  });

  /** Spent and given back while Redis is away, back and emptied. */
  const losses: Action[] = [
    { kind: 'spend', units: 8, mode: 'live' },
    { kind: 'kill-redis' },
    { kind: 'spend', units: 8, mode: 'live' },
    { kind: 'refund', request: 0, isExempt: false, mode: 'live' },
    { kind: 'start-redis', wait: true },
    { kind: 'refund', request: 0, isExempt: false, mode: 'live' },
    { kind: 'spend', units: 8, mode: 'live' },
    { kind: 'empty-redis' },
    { kind: 'spend', units: 1, mode: 'live' },
    { kind: 'next-day' },
    { kind: 'spend', units: 5, mode: 'live' },
    { kind: 'empty-redis' },
    { kind: 'refund', request: 1, isExempt: true, mode: 'live' },
    { kind: 'spend', units: 8, mode: 'live' },
  ];

  /** Settled and refunded in an emptied Redis, before PostgreSQL has learned of what was spent in it. */
  const settledWhenEmpty: Action[] = [
    { kind: 'spend', units: 4, mode: 'live' },
    { kind: 'refund', request: 0, isExempt: true, mode: 'live' },
    { kind: 'spend', units: 2, mode: 'live' },
    { kind: 'empty-redis' },
    { kind: 'settle', request: 1, units: 1, mode: 'live' },
    { kind: 'spend', units: 8, mode: 'live' },
    { kind: 'empty-redis' },
    { kind: 'refund', request: 2, isExempt: true, mode: 'live' },
    { kind: 'spend', units: 8, mode: 'live' },
  ];

  it('counts like plain sums while Redis is emptied, killed and started under one node', async () => {
    const actions = fc.array(fc.oneof(...counting, ...counting, ...losing), { minLength: 20, maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(actions, (each) => play(each, () => nodes[0])),
      { ...REPORTS_AT_ONCE, numRuns: propertyRuns(40), examples: [[losses], [settledWhenEmpty]] },
    );
  });
});
