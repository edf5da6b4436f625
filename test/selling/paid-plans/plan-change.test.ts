import { type Charging, decidePlanChange, type HeldPlan, type WantedPlan } from '../../../services/selling/paid-plans/plan-change';
import { fc } from '../../support/fast-check';

const END = 2_000_000;
const paid = { status: 'active', plan: 'Star', price: 499, currency: 'INR', periodEnd: END } as const;
const held: HeldPlan = { ...paid, cancelsAt: null, next: null, discount: null, isPaused: false };
const wanted: WantedPlan = { plan: 'Sun', price: 999, currency: 'INR', isOnRequest: false };
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

  const decide = (change: Partial<HeldPlan> = {}, wish: Partial<WantedPlan> = {}, charging: Charging = 'advance') =>
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
    const suspended = (wish: Partial<WantedPlan>, of: Partial<HeldPlan> | undefined, charging: Charging = 'advance') =>
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
