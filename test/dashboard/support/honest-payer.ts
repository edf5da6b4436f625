import { randomUUID } from 'node:crypto';
import { chargesOf } from '../../../services/selling/billing/charge-states';
import { type GivenFact } from '../../../services/selling/billing/payment-facts';
import { ChangeRefused, type PaymentPort, type SubscriptionChange } from '../../../services/selling/billing/payment-port';
import { discounted, type PaymentState, reducePayments } from '../../../services/selling/paid-plans/payment-state';
import { decidePlanChange, type PlanChange } from '../../../services/selling/paid-plans/plan-change';
import { fc } from '../../support/fast-check';
import { type PaymentStage, startRazorpayStage, startStripeStage } from './payment-stages';

const STAGES = { stripe: startStripeStage, razorpay: startRazorpayStage };
/** What a stand-in keeps makes it slow in the end. */
const HISTORIES_A_STAGE = 500;

/**
 * Tries so many histories at a provider's stand-in, by its adapter.
 * @param check what else holds after each
 */
export async function payHonestly(
  provider: keyof typeof STAGES,
  histories: number,
  check: (payer: HonestPayer) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  for (let left = histories; left > 0; left -= HISTORIES_A_STAGE) {
    const stage = await STAGES[provider]();
    try {
      await fc.assert(
        fc.asyncProperty(paidHistories, async ({ acts, ...first }) => {
          const payer = await HonestPayer.begin(stage, first);
          for (const act of acts) if (!(await payer.act(act))) break;
          expectHonest(payer);
          await check(payer);
        }),
        { numRuns: Math.min(left, HISTORIES_A_STAGE) },
      );
    } finally {
      await stage.close();
    }
  }
}

export const PLANS = [
  { plan: 'Moon', price: 19_900 },
  { plan: 'Star', price: 49_900 },
  { plan: 'Sun', price: 99_900 },
  { plan: 'Mega', price: 4_999_900 },
] as const;
const CURRENCY = 'INR';

/** What a customer, its seller, and time do. `again` sends the last change once more. */
type Act =
  | { readonly kind: 'want'; readonly plan: number }
  | { readonly kind: 'discount'; readonly percent: number | null; readonly amount: number | null; readonly months: number | null }
  | { readonly kind: 'pass'; readonly days: number }
  | { readonly kind: 'refund'; readonly percent: number }
  | { readonly kind: 'use'; readonly amount: number }
  | { readonly kind: 'renew' | 'fail' | 'cancel' | 'keep' | 'pause' | 'resume' | 'undiscount' | 'again' | 'end' };

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('want' as const), plan: fc.nat(PLANS.length - 1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), days: fc.nat(40) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refund' as const), percent: fc.constantFrom(1, 33, 100) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('use' as const), amount: fc.constantFrom(100, 1_234, 99_999) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('discount' as const),
      percent: fc.constantFrom(1, 33, 50, 100),
      amount: fc.constant(null),
      months: fc.constantFrom(null, 1, 3),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('discount' as const),
      percent: fc.constant(null),
      amount: fc.constantFrom(100, 19_900),
      months: fc.constantFrom(null, 2),
    }),
  },
  { weight: 6, arbitrary: fc.constantFrom<Act>({ kind: 'renew' }, { kind: 'renew' }, { kind: 'fail' }) },
  {
    weight: 5,
    arbitrary: fc.constantFrom<Act>(
      ...(['cancel', 'keep', 'pause', 'resume', 'undiscount', 'again', 'end'] as const).map((kind) => ({ kind })),
    ),
  },
);

const paidHistories = fc.record({ first: fc.nat(PLANS.length - 1), isTrial: fc.boolean(), acts: fc.array(act, { maxLength: 12 }) });

interface Period {
  paid: number;
  /** The dearest plan of which anything could be used. */
  dearest: number;
  /** What the seller took off it at most. */
  percent: number;
  amount: number;
  /** Nothing is due: a trial, what is not paid within its grace, or what the seller has paused. */
  isFree: boolean;
}

const newPeriod = (isFree = false): Period => ({ paid: 0, dearest: 0, percent: 0, amount: 0, isFree });

/** A customer of a provider, by its adapter and the one policy, with what each of its periods came to. */
export class HonestPayer {
  readonly periods: Period[];
  readonly facts: GivenFact[] = [];
  /** Above the limits, as the provider was asked to charge it. */
  readonly uses: { readonly id: string; readonly amount: number }[] = [];
  private paid = 0;
  private last: SubscriptionChange | undefined;

  private constructor(
    private readonly stage: PaymentStage,
    readonly subscription: string,
    isTrial: boolean,
  ) {
    this.periods = [newPeriod(isTrial)];
  }

  static async begin(stage: PaymentStage, { first, isTrial }: { first: number; isTrial: boolean }): Promise<HonestPayer> {
    const { plan, price } = PLANS[first] ?? PLANS[0];
    const place = { returnUrl: 'https://api.example/', cancelUrl: 'https://api.example/' };
    const who = { customerId: randomUUID(), account: undefined, email: 'asha@example.com', product: 'api-ip', title: 'IP lookup' };
    const sold = { plan, price, currency: CURRENCY, trialDays: isTrial ? 14 : 0, takesCodes: false };
    const { session } = await stage.port.openCheckout({ id: randomUUID(), ...who, ...sold, ...place });
    stage.events();
    const payer = new HonestPayer(stage, stage.pay(session), isTrial);
    await payer.hear();
    return payer;
  }

  get state(): PaymentState {
    const state = reducePayments(this.facts);
    if (!state) throw new Error('the provider has said nothing');
    return state;
  }

  private get port(): PaymentPort {
    return this.stage.port;
  }

  private get period(): Period {
    const last = this.periods.at(-1);
    if (!last) throw new Error('there is a first period');
    return last;
  }

  /** Takes what the provider says, and what was charged with it. @returns how much that is */
  private async hear(answer: readonly GivenFact[] = []): Promise<number> {
    this.facts.push(...answer);
    for (const body of this.stage.events()) {
      const { facts } = await this.port.readEvent(Buffer.from(body), this.stage.sign(body), Date.now());
      this.facts.push(...facts.filter(({ subscription }) => subscription === this.subscription));
    }
    const paid = chargesOf(this.facts).reduce((sum, { amount, paidAt, use = [] }) => {
      const ofPlan = use.reduce((rest, each) => rest - each.amount, amount);
      return sum + (paidAt === null ? 0 : ofPlan);
    }, 0);
    const charged = paid - this.paid;
    this.paid = paid;
    const { period, state } = this;
    period.paid += charged;
    if (state.status !== 'ended') period.dearest = Math.max(period.dearest, state.price);
    period.percent = Math.max(period.percent, state.discount?.percent ?? 0);
    period.amount = Math.max(period.amount, state.discount?.amount ?? 0);
    return charged;
  }

  private async ask(change: SubscriptionChange): Promise<number> {
    return this.hear(await this.port.changeSubscription(this.subscription, change));
  }

  /** What the policy decides is what the provider is asked, does and charges. */
  private async want(index: number): Promise<void> {
    const { plan, price } = PLANS[index] ?? PLANS[0];
    const held = this.state;
    const change = decidePlanChange({
      wanted: { plan, price, currency: CURRENCY, isOnRequest: false },
      held,
      charging: this.port.chargesAtOnce ? 'advance' : 'advance_by_period',
      by: 'customer',
    });
    if (change.kind === 'refused') return;
    const asked = this.asAsked(change, { plan, price, heldPrice: held.price });
    const charge = change.kind === 'now' ? change.charge : 0;
    const cost = asked.kind === 'switch' ? (await this.port.previewChange(this.subscription, asked)).amount : 0;
    this.last = asked;
    const charged = await this.ask(asked);
    const lower = discounted(charge, held.discount, -Infinity);
    // After the last charge that a discount was promised for, the provider's coupon may go on for a part of a month.
    const isPromised = (held.discount?.until ?? Infinity) > this.stage.second();
    expect([change, cost, isPromised ? [lower] : [lower, charge]]).toEqual([change, charged, expect.arrayContaining([charged])]);
    const { state } = this;
    if (change.kind === 'now') expect(state).toMatchObject({ plan, price, next: null });
    else expect(state).toMatchObject({ plan: held.plan, price: held.price, next: change.kind === 'keep' ? null : { plan, price } });
  }

  private asAsked(change: PlanChange, about: { plan: string; price: number; heldPrice: number }): SubscriptionChange {
    if (change.kind === 'keep') return { kind: 'stay' };
    const charge = change.kind === 'now' ? change.charge : 0;
    const begins = change.kind === 'now' ? 'now' : 'next_period';
    return { kind: 'switch', id: randomUUID(), title: 'IP lookup', ...about, begins, charge };
  }

  /** A request that is sent again neither charges nor changes anything. */
  private async again(): Promise<void> {
    if (this.last?.kind !== 'switch') return;
    const before = this.state;
    const answer = await this.port.changeSubscription(this.subscription, this.last).catch((error: unknown) => {
      if (!(error instanceof ChangeRefused)) throw error;
      return [];
    });
    expect(await this.hear(answer)).toBe(0);
    const { plan, price } = before;
    expect(this.state).toMatchObject({ plan, price });
  }

  /** A share of what is left of the last payment goes back. */
  private async refund(percent: number): Promise<void> {
    const last = chargesOf(this.facts).findLast(({ paidAt }) => paidAt !== null);
    const amount = Math.ceil((((last?.amount ?? 0) - (last?.refunded ?? 0)) * percent) / 100);
    if (!last || amount === 0) return;
    await this.hear(await this.port.refund(last.invoice, { id: randomUUID(), amount, currency: CURRENCY, isAgain: false }));
  }

  private async use(amount: number): Promise<void> {
    const use = { id: randomUUID(), amount };
    await this.port.chargeUse(this.subscription, { ...use, account: undefined, description: 'Use', currency: CURRENCY, isAgain: false });
    this.uses.push(use);
  }

  private async renew(isPaid: boolean): Promise<void> {
    const { isPaused } = this.state;
    this.periods.push(newPeriod(isPaused));
    this.last = undefined;
    this.stage.renew(this.subscription, isPaid || isPaused);
    await this.hear();
    if (isPaid || isPaused || this.state.status !== 'failing') return;
    this.stage.recover(this.subscription);
    await this.hear();
  }

  /** @returns false once it has ended */
  async act(given: Act): Promise<boolean> {
    const { status, isPaused, cancelsAt, discount, price } = this.state;
    switch (given.kind) {
      case 'want':
        await this.want(given.plan);
        break;
      case 'refund':
        await this.refund(given.percent);
        break;
      case 'use':
        if (status === 'active' && !isPaused) await this.use(given.amount);
        break;
      case 'pass':
        this.stage.pass(given.days * 86_400);
        break;
      case 'renew':
      case 'fail':
        await this.renew(given.kind === 'renew');
        break;
      case 'cancel':
        await this.ask({ kind: 'cancel' });
        break;
      case 'keep':
        if (cancelsAt !== null && !this.port.isCancelFinal) await this.ask({ kind: 'keep' });
        break;
      case 'pause':
        if (status === 'active') await this.ask({ kind: 'pause' });
        break;
      case 'resume':
        if (isPaused) await this.ask({ kind: 'resume' });
        break;
      case 'discount':
        if (this.port.takesDiscounts && (given.amount ?? 0) <= price) {
          const { percent, amount, months } = given;
          await this.ask({ kind: 'discount', discount: { id: randomUUID(), percent, amount, months, currency: CURRENCY, name: 'one' } });
        }
        break;
      case 'undiscount':
        if (discount) await this.ask({ kind: 'discount', discount: null });
        break;
      case 'again':
        await this.again();
        break;
      case 'end':
        await this.ask({ kind: 'end' });
    }
    return this.state.status !== 'ended';
  }
}

/** Less is due for what the seller took off, and nothing where nothing was charged by its word. Each sum is rounded once. */
function leastOf({ percent, amount, isFree, dearest }: Period): number {
  return isFree ? 0 : dearest - Math.ceil((dearest * percent) / 100) - amount - 2;
}

/**
 * A period costs the dearest plan that was held in it. So nobody pays more than that, and nobody less than for a plan that allows all that was
 * used: the dearest one may have.
 */
function expectHonest({ periods }: HonestPayer): void {
  for (const period of periods) {
    expect(period.paid).toBeGreaterThanOrEqual(leastOf(period));
    expect(period.paid).toBeLessThanOrEqual(period.dearest);
  }
}
