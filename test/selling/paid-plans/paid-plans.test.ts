import { chargesOf } from '../../../services/selling/billing/charge-states';
import {
  type DatedFact,
  entitlementOf,
  graceEnd,
  type PaymentFact,
  reducePayments,
} from '../../../services/selling/paid-plans/payment-state';
import { fc } from '../../support/fast-check';
import { type Charging, decidePlanChange, type HeldPlan, type PricedPlan } from '../../../services/selling/paid-plans/plan-change';

const DAY = 86_400;
const PLAN = { plan: 'Star', price: 49_900, currency: 'INR' };
const TERMS = { graceDays: 7, afterGrace: 'base' } as const;

type Act = 'renew' | 'fail' | 'recover' | 'cancel' | 'keep' | 'end' | 'refund';

/** A provider that says what happens to one subscription, each thing at a moment of its own. */
class Provider {
  readonly facts: DatedFact[] = [];
  at = 1_000_000;
  status: 'active' | 'failing' | 'ended' = 'active';
  periodEnd = this.at + 30 * DAY;
  cancelsAt: number | null = null;
  private failingSince: number | null = null;

  constructor() {
    this.tell({ kind: 'subscription', status: 'waiting', ...PLAN, periodEnd: this.periodEnd, cancelsAt: null });
    this.tell({ kind: 'paid', invoice: 'in_1', amount: 49_900, currency: 'INR', url: null });
    this.say();
  }

  private tell(fact: PaymentFact): void {
    this.at += 1;
    this.facts.push({ id: `evt_${this.facts.length}`, at: this.at, fact });
  }

  snapshot(): DatedFact {
    const { status, periodEnd, cancelsAt } = this;
    return { id: `look ${this.at}`, at: this.at + 0.5, fact: { kind: 'subscription', status, ...PLAN, periodEnd, cancelsAt } };
  }

  private say(): void {
    this.tell(this.snapshot().fact);
  }

  act(act: Act): void {
    if (this.status === 'ended') return;
    this.at += DAY;
    const invoice = { invoice: `in_${this.at}`, amount: 49_900, currency: 'INR', url: null };
    if (act === 'renew' || act === 'fail') this.periodEnd += 30 * DAY;
    if (act === 'renew' || act === 'recover') {
      this.tell({ kind: 'paid', ...invoice });
      [this.status, this.failingSince] = ['active', null];
    }
    if (act === 'fail') {
      this.tell({ kind: 'failed', ...invoice });
      this.failingSince ??= this.at;
      this.status = 'failing';
    }
    if (act === 'refund') return this.tell({ kind: 'refunded', invoice: 'in_1', payment: 'pay', amount: 1, currency: 'INR' });
    if (act === 'cancel') this.cancelsAt = this.periodEnd;
    if (act === 'keep') this.cancelsAt = null;
    if (act === 'end') this.status = 'ended';
    this.say();
  }

  truth() {
    const { status, periodEnd, cancelsAt, failingSince } = this;
    return { status, ...PLAN, periodEnd, cancelsAt, failingSince, next: null, discount: null, isPaused: false };
  }
}

const acts = fc.array(fc.constantFrom<Act>('renew', 'fail', 'recover', 'cancel', 'keep', 'end', 'refund'), { maxLength: 12 });

function historyOf(given: readonly Act[]): Provider {
  const provider = new Provider();
  for (const act of given) provider.act(act);
  return provider;
}

describe('the state of a paid subscription', () => {
  it('is the provider’s, whatever order its events come in and however often', () => {
    fc.assert(
      fc.property(acts, fc.infiniteStream(fc.nat()), (given, random) => {
        const provider = historyOf(given);
        const twice = [...provider.facts, ...provider.facts.filter(() => (random.next().value ?? 0) % 2 === 0)];
        const shuffled = twice.map((fact) => ({ fact, place: random.next().value ?? 0 })).sort((a, b) => a.place - b.place);
        expect(reducePayments(shuffled.map(({ fact }) => fact))).toEqual(provider.truth());
      }),
    );
  });

  it('is the provider’s after one look at it, whichever events were lost, but for since when a payment fails', () => {
    fc.assert(
      fc.property(acts, fc.infiniteStream(fc.boolean()), (given, isKept) => {
        const provider = historyOf(given);
        const left = provider.facts.filter(() => isKept.next().value);
        const state = reducePayments([...left, provider.snapshot()]);
        const { failingSince, ...truth } = provider.truth();
        expect(state).toMatchObject(truth);
        if (truth.status !== 'ended') expect(state?.failingSince === null).toBe(failingSince === null);
      }),
    );
  });

  it('does not depend on the order of facts of the same second', () => {
    fc.assert(
      fc.property(acts, fc.infiniteStream(fc.nat()), (given, random) => {
        const facts = historyOf(given).facts.map((each) => ({ ...each, at: 5 }));
        const shuffled = facts.map((fact) => ({ fact, place: random.next().value ?? 0 })).sort((a, b) => a.place - b.place);
        expect(reducePayments(shuffled.map(({ fact }) => fact))).toEqual(reducePayments(facts));
      }),
    );
  });
});

describe('what was charged', () => {
  it('is each invoice once, paid or not, whatever order its events come in', () => {
    const charge = (id: string, kind: 'paid' | 'failed', at: number, amount = 499): DatedFact => ({
      id,
      at,
      fact: { kind, invoice: `in_${id[0]}`, amount, currency: 'INR', url: null },
    });
    const facts = [charge('a1', 'failed', 10), charge('a2', 'failed', 13), charge('a3', 'paid', 15, 450), charge('b1', 'failed', 20)];
    const given = { currency: 'INR', url: null, plan: null, refunded: 0, refunds: [], refundedAt: null };
    for (const each of [facts, facts.toReversed(), [...facts, ...facts]]) {
      expect(chargesOf([...each, charge('c1', 'paid', 1, 0)]).toSorted((a, b) => a.chargedAt - b.chargedAt)).toEqual([
        { ...given, invoice: 'in_a', amount: 450, chargedAt: 10, paidAt: 15 },
        { ...given, invoice: 'in_b', amount: 499, chargedAt: 20, paidAt: null },
      ]);
    }
  });
});

describe('what is given for it', () => {
  const state = historyOf([]).truth();
  const given = (changes: Partial<typeof state>, now: number, terms: { graceDays: number; afterGrace: 'base' | 'suspend' } = TERMS) =>
    entitlementOf({ ...state, ...changes }, terms, now);
  const now = state.periodEnd - DAY;

  it('is nothing before it is paid and after it has ended, and the plan in between', () => {
    expect(reducePayments([])).toBeUndefined();
    expect(entitlementOf({ ...state, status: 'waiting' }, TERMS, now)).toBe('none');
    expect(given({}, now)).toBe('plan');
    expect(entitlementOf({ ...state, status: 'trial' }, TERMS, now)).toBe('plan');
    expect(given({ status: 'ended' }, now)).toBe('none');
  });

  it('ends with the grace after a failed payment: base limits, or no access, as the catalogue says', () => {
    const failing = { status: 'failing', failingSince: now } as const;
    expect(graceEnd({ ...state, ...failing }, TERMS, now)).toBe(now + 7 * DAY);
    expect(given(failing, now + 7 * DAY - 1)).toBe('plan');
    expect(given(failing, now + 7 * DAY)).toBe('none');
    expect(given(failing, now + 7 * DAY, { ...TERMS, afterGrace: 'suspend' })).toBe('suspended');
    expect(given(failing, now, { ...TERMS, graceDays: 0 })).toBe('none');
  });

  it('ends when it was cancelled to, whether the provider says so again or not', () => {
    expect(given({ cancelsAt: state.periodEnd }, state.periodEnd - 1)).toBe('plan');
    expect(given({ cancelsAt: state.periodEnd }, state.periodEnd)).toBe('none');
  });

  it('outlasts a period of whose end there is no news by the grace alone', () => {
    expect(given({}, state.periodEnd + 7 * DAY - 1)).toBe('plan');
    expect(given({}, state.periodEnd + 7 * DAY)).toBe('none');
  });
});

const END = 2_000_000;
const paid = { status: 'active', plan: 'Star', price: 499, currency: 'INR', periodEnd: END } as const;
const held: HeldPlan = { ...paid, cancelsAt: null, next: null, discount: null, isPaused: false };
const wanted: PricedPlan = { plan: 'Sun', price: 999, currency: 'INR', isOnRequest: false };
const PRICES: Readonly<Record<string, number>> = { Base: 0, Moon: 199, Star: 499, Sun: 999, Mega: 49_999 };

interface Period {
  paid: number;
  /** The dearest plan of which anything could be used. */
  dearest: number;
}

/** What one customer pays over periods, by what the policy decides alone. */
class Payer {
  now: HeldPlan = held;
  readonly periods: Period[] = [{ paid: held.price, dearest: held.price }];

  constructor(private readonly charging: Charging) {}

  want(plan: string): void {
    const change = decidePlanChange({
      wanted: { plan, price: PRICES[plan] ?? 0, currency: 'INR', isOnRequest: false },
      held: this.now,
      charging: this.charging,
      by: 'customer',
    });
    const price = PRICES[plan] ?? 0;
    const period = this.periods.at(-1);
    if (change.kind === 'keep') this.now = { ...this.now, next: null };
    if (change.kind === 'next_period') this.now = { ...this.now, next: { plan, price } };
    if (change.kind !== 'now' || !period) return;
    this.now = { ...this.now, plan, price };
    period.paid += change.charge;
    period.dearest = Math.max(period.dearest, price);
  }

  renew(): void {
    const { next, ...rest } = this.now;
    this.now = { ...rest, ...next, next: null, periodEnd: this.now.periodEnd + END };
    this.periods.push({ paid: this.now.price, dearest: this.now.price });
  }
}

describe('a change of plan', () => {
  it.each(['advance', 'advance_by_period'] as const)('makes a period cost the dearest plan held in it, by any changes (%s)', (charging) => {
    const act = fc.constantFrom('renew', ...Object.keys(PRICES));
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        const payer = new Payer(charging);
        for (const each of acts) {
          if (each === 'renew') payer.renew();
          else payer.want(each);
        }
        for (const { paid, dearest } of payer.periods) expect(paid).toBe(dearest);
      }),
    );
  });

  const decide = (change: Partial<HeldPlan> = {}, wish: Partial<PricedPlan> = {}, charging: Charging = 'advance') =>
    decidePlanChange({ wanted: { ...wanted, ...wish }, held: { ...held, ...change }, charging, by: 'customer' });
  const cheaper = { plan: 'Moon', price: 199 };
  it.each([
    ['a dearer plan', decide(), { kind: 'now', charge: 500 }],
    ['one where no sum can be charged', decide({}, {}, 'advance_by_period'), { kind: 'next_period', at: END }],
    ['a cheaper plan', decide({}, cheaper), { kind: 'next_period', at: END }],
    ['one of the same price', decide({}, { price: 499 }), { kind: 'next_period', at: END }],
    ['a trial', decide({ status: 'trial' }), { kind: 'now', charge: 0 }],
    ['a plan that waits', decide({ next: { plan: 'Moon', price: 199 } }, { plan: 'Star' }), { kind: 'keep' }],
    ['another one meanwhile', decide({ next: { plan: 'Moon', price: 199 } }), { kind: 'refused', why: 'waiting' }],
    ['a plan that is owed for', decide({ status: 'failing' }), { kind: 'refused', why: 'owed' }],
    ['one that ends', decide({ cancelsAt: END }, cheaper), { kind: 'refused', why: 'ending' }],
    ['another currency', decide({}, { currency: 'EUR' }), { kind: 'refused', why: 'currency' }],
    ['the base limits', decide({}, { plan: null, price: 0 }), { kind: 'refused', why: 'paid' }],
    ['a plan with an amount off', decide({ discount: { percent: null, amount: 100, until: null } }), { kind: 'next_period', at: END }],
    ['a plan with a share off', decide({ discount: { percent: 10, amount: null, until: null } }), { kind: 'now', charge: 500 }],
    ['a payment that is paused', decide({ isPaused: true }), { kind: 'refused', why: 'paused' }],
    ['the present plan', decide({}, { plan: 'Star' }), { kind: 'refused', why: 'current' }],
  ] as const)('is decided for %s', (_what, change, expected) => {
    expect(change).toEqual(expected);
  });

  it('takes no money for what the seller has suspended, and leaves a cheaper plan to be chosen', () => {
    const suspended = (wish: Partial<PricedPlan>, of: Partial<HeldPlan> | undefined, charging: Charging = 'advance') =>
      decidePlanChange({ wanted: { ...wanted, ...wish }, held: of && { ...held, ...of }, isSuspended: true, charging, by: 'customer' });
    const refused = { kind: 'refused', why: 'suspended' };
    for (const charging of ['advance', 'advance_by_period'] as const) {
      expect([suspended({}, undefined, charging), suspended({}, {}, charging), suspended({}, { status: 'trial' }, charging)]).toEqual([
        refused,
        refused,
        refused,
      ]);
      expect(suspended(cheaper, {}, charging)).toEqual({ kind: 'next_period', at: END });
    }
    expect(suspended({}, undefined, 'statement')).toEqual({ kind: 'now', charge: 0 });
  });

  it('is refused to a seller where the provider would go on charging, and begins with a payment where plans are paid first', () => {
    const of = { wanted, charging: 'advance' } as const;
    expect(decidePlanChange({ ...of, held, by: 'seller' })).toEqual({ kind: 'refused', why: 'paid' });
    expect(decidePlanChange({ ...of, held: undefined, by: 'seller' })).toEqual({ kind: 'now', charge: 0 });
    expect(decidePlanChange({ ...of, held: undefined, by: 'customer' })).toEqual({ kind: 'pay', charge: 999 });
    expect(decidePlanChange({ ...of, charging: 'statement', held: undefined, by: 'customer' })).toEqual({ kind: 'now', charge: 0 });
  });
});
