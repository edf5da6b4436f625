import { isDeepStrictEqual } from 'node:util';

/**
 * What a payment provider says of one subscription, as facts in the provider's own time, and what they come to. Facts may arrive twice,
 * late, in any order or never; the state depends only on which facts there are.
 */

/** Seconds since 1970, as the provider has them. */
type Seconds = number;

/** Another plan, which begins with the next period. */
export interface NextPlan {
  readonly plan: string;
  /** A month, in the currency that is paid in. */
  readonly price: number;
}

/** What a seller takes off the price of a plan. */
export interface Discount {
  /** Percent of the price; null: an amount. */
  readonly percent: number | null;
  /** A month, in the currency's smallest unit; null: a share. */
  readonly amount: number | null;
  /** The last charge that is lower; null: each one is. */
  readonly until: Seconds | null;
}

/** What a month costs that is charged at a time. The provider's own sum may differ by its rounding. */
export function discounted(price: number, discount: Discount | null, at: Seconds): number {
  if (!discount || (discount.until !== null && at > discount.until)) return price;
  const { percent, amount } = discount;
  return Math.max(0, price - (amount ?? Math.round((price * (percent ?? 0)) / 100)));
}

/** How the provider has a subscription. Amounts are whole units of the currency's smallest part. */
export interface SubscriptionFact {
  readonly kind: 'subscription';
  readonly status: 'waiting' | 'trial' | 'active' | 'failing' | 'ended';
  readonly plan: string;
  readonly price: number;
  readonly currency: string;
  /** End of the paid period, or of the trial. */
  readonly periodEnd: Seconds;
  /** When it ends because it was cancelled; null while it renews. Absent: the provider does not say, and what it said before holds. */
  readonly cancelsAt?: Seconds | null;
  /** Absent: none waits. */
  readonly next?: NextPlan | null;
  /** Absent: none is given. */
  readonly discount?: Discount | null;
  /** Whether nothing is charged until somebody has it resumed. Absent: it is charged. */
  readonly isPaused?: boolean;
}

/** One invoice of the provider's that was paid, or could not be charged. */
export interface ChargeFact {
  readonly kind: 'paid' | 'failed';
  readonly invoice: string;
  readonly amount: number;
  readonly currency: string;
  /** The provider's own page of it. */
  readonly url: string | null;
  /** The provider's id of the payment, where it has another than its invoice. */
  readonly payment?: string;
  /** Use above the limits on it, by our ids. Absent: none. */
  readonly use?: readonly { readonly id: string; readonly amount: number }[];
}

/** Money that went back. `amount` is all that was refunded of this payment so far. */
export interface RefundFact {
  readonly kind: 'refunded';
  readonly invoice: string;
  readonly payment: string;
  readonly amount: number;
  readonly currency: string;
}

export type PaymentFact = SubscriptionFact | ChargeFact | RefundFact;

export interface DatedFact {
  /** The provider's id of the event. */
  readonly id: string;
  readonly at: Seconds;
  readonly fact: PaymentFact;
}

export interface PaymentState extends Omit<SubscriptionFact, 'kind'> {
  readonly cancelsAt: Seconds | null;
  readonly next: NextPlan | null;
  readonly discount: Discount | null;
  readonly isPaused: boolean;
  /** When a charge first failed that was not made good since; null when nothing is owed. */
  readonly failingSince: Seconds | null;
}

/**
 * The order of facts of one second: as a provider's own steps follow each other. A failure stands after a success of the same second,
 * unless an invoice was paid in it.
 */
const STATUS_RANK = { waiting: 0, trial: 1, active: 2, failing: 4, ended: 6 } as const;
const KIND_RANK = { failed: 3, paid: 5, refunded: 7 } as const;

function rankOf(fact: PaymentFact): number {
  return fact.kind === 'subscription' ? STATUS_RANK[fact.status] : KIND_RANK[fact.kind];
}

/** JSON is compared last, so that the order is the same for any two facts. */
function inOrder(a: DatedFact, b: DatedFact): number {
  return a.at - b.at || rankOf(a.fact) - rankOf(b.fact) || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function step(state: PaymentState | undefined, { at, fact }: DatedFact): PaymentState | undefined {
  if (fact.kind === 'subscription') {
    const { kind: _kind, cancelsAt = state?.cancelsAt ?? null, next = null, discount = null, isPaused = false, ...rest } = fact;
    // A period that begins while nothing is charged is not paid.
    const periodEnd = isPaused ? (state?.periodEnd ?? rest.periodEnd) : rest.periodEnd;
    const members = { ...rest, periodEnd, cancelsAt, next, discount, isPaused };
    // No provider brings a subscription back that has ended.
    if (state?.status === 'ended') return state;
    if (fact.status === 'failing') return { ...members, failingSince: state?.failingSince ?? at };
    return { ...members, failingSince: fact.status === 'ended' ? (state?.failingSince ?? null) : null };
  }
  if (!state || state.status === 'ended') return state;
  if (fact.kind === 'failed' && state.status === 'active') return { ...state, status: 'failing', failingSince: at };
  if (fact.kind === 'paid' && (state.status === 'failing' || state.status === 'waiting')) {
    return { ...state, status: 'active', failingSince: null };
  }
  return state;
}

/** The plan that is paid for at a time: as the provider has it from then on, or else had it last. */
export function planAt(facts: readonly DatedFact[], at: Seconds): string | null {
  const own = [...facts].sort(inOrder).flatMap((each) => (each.fact.kind === 'subscription' ? [{ at: each.at, fact: each.fact }] : []));
  const after = own.find((each) => each.at >= at);
  const held = (after ?? own.at(-1))?.fact;
  if (!held) return null;
  return !after && held.next && held.periodEnd <= at ? held.next.plan : held.plan;
}

/** @returns undefined before the provider has said what kind of subscription it is */
export function reducePayments(facts: readonly DatedFact[]): PaymentState | undefined {
  return [...facts].sort(inOrder).reduce<PaymentState | undefined>(step, undefined);
}

/**
 * Whether nobody can know from these facts how a subscription is now: of its newest second there are two, such as a cancellation and its
 * withdrawal, and providers send events in any order. What is asked later stands after both.
 */
export function isUncertain(facts: readonly DatedFact[]): boolean {
  const own = facts.filter(({ fact }) => fact.kind === 'subscription');
  const newest = Math.max(...own.map(({ at }) => at));
  const [first, ...others] = own.filter(({ at }) => at === newest).map(({ fact }) => fact);
  return others.some((fact) => !isDeepStrictEqual(fact, first));
}

/** What a seller allows, by `billing.payments` of the catalogue. */
export interface GraceTerms {
  /** Days after a failed payment in which the plan goes on. */
  readonly graceDays: number;
  /** What comes then: the product's base limits, or a suspended subscription. */
  readonly afterGrace: 'base' | 'suspend';
}

/** What the customer has: the plan, the plan but no access to it, or nothing that was paid for. */
export type Entitlement = 'plan' | 'suspended' | 'none';

const DAY_SECONDS = 86_400;

/**
 * End of grace: how long the plan goes on without money; null while no payment is owed. A period that is over without news counts as
 * unpaid.
 */
export function graceEnd({ status, failingSince, periodEnd }: PaymentState, { graceDays }: GraceTerms, now: Seconds): Seconds | null {
  if (status === 'ended' || status === 'waiting') return null;
  const since = failingSince ?? (periodEnd < now ? periodEnd : null);
  return since === null ? null : since + graceDays * DAY_SECONDS;
}

export function entitlementOf(state: PaymentState, terms: GraceTerms, now: Seconds): Entitlement {
  const { status, cancelsAt } = state;
  if (status === 'ended' || status === 'waiting' || (cancelsAt !== null && cancelsAt <= now)) return 'none';
  const end = graceEnd(state, terms, now);
  if (end === null || now < end) return 'plan';
  return terms.afterGrace === 'suspend' ? 'suspended' : 'none';
}
