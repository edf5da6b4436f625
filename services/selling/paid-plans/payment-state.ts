import { isDeepStrictEqual } from 'node:util';

/**
 * A payment provider's facts about one subscription, in the provider's own time, and the state that follows from them. Facts may arrive
 * twice, late, in any order or never; the state depends only on the set of facts.
 */

/** Seconds since 1970, as the provider has them. */
type Seconds = number;

/** Another plan, which begins with the next period. */
export interface NextPlan {
  readonly plan: string;
  /** Monthly, in the currency of the payment. */
  readonly price: number;
}

/** A seller's discount on the price of a plan. */
export interface Discount {
  /** Percent of the price; null: an amount. */
  readonly percent: number | null;
  /** Monthly, in the currency's smallest unit; null: a percentage. */
  readonly amount: number | null;
  /** Time of the last reduced charge; null: all charges are reduced. */
  readonly until: Seconds | null;
}

/** The monthly price of a given charge. The provider's own sum may differ by its rounding. */
export function discounted(price: number, discount: Discount | null, at: Seconds): number {
  if (!discount || (discount.until !== null && at > discount.until)) return price;
  const { percent, amount } = discount;
  return Math.max(0, price - (amount ?? Math.round((price * (percent ?? 0)) / 100)));
}

/** A subscription as the provider has it. Amounts are in the currency's smallest unit. */
export interface SubscriptionFact {
  readonly kind: 'subscription';
  readonly status: 'waiting' | 'trial' | 'active' | 'failing' | 'ended';
  readonly plan: string;
  readonly price: number;
  readonly currency: string;
  /** End of the paid period, or of the trial. */
  readonly periodEnd: Seconds;
  /**
   * The time at which a cancelled subscription ends; null while it renews. Absent: the provider does not report it, so its earlier report
   * holds.
   */
  readonly cancelsAt?: Seconds | null;
  /** Absent: no plan waits. */
  readonly next?: NextPlan | null;
  /** Absent: no discount. */
  readonly discount?: Discount | null;
  /** True if nothing is charged until the payment is resumed. Absent: it is charged. */
  readonly isPaused?: boolean;
}

/** One invoice of the provider that was paid, or could not be charged. */
export interface ChargeFact {
  readonly kind: 'paid' | 'failed';
  readonly invoice: string;
  readonly amount: number;
  readonly currency: string;
  /** The provider's own page of the invoice. */
  readonly url: string | null;
  /** The provider's id of the payment, if it differs from the invoice's. */
  readonly payment?: string;
  /** Use above the limits on it, by our ids. Absent: none. */
  readonly use?: readonly { readonly id: string; readonly amount: number }[];
}

/** A refund. `amount` is the total refunded of this payment so far. */
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
  /** Time at which the unpaid charge first failed; null if nothing is owed. */
  readonly failingSince: Seconds | null;
}

/**
 * The order of facts of one second, which follows a provider's own steps. A failure comes after a success of the same second, unless an
 * invoice was paid in it.
 */
const STATUS_RANK = { waiting: 0, trial: 1, active: 2, failing: 4, ended: 6 } as const;
const KIND_RANK = { failed: 3, paid: 5, refunded: 7 } as const;

function rankOf(fact: PaymentFact): number {
  return fact.kind === 'subscription' ? STATUS_RANK[fact.status] : KIND_RANK[fact.kind];
}

/** JSON is compared last, so that any two facts always have the same order. */
function inOrder(a: DatedFact, b: DatedFact): number {
  return a.at - b.at || rankOf(a.fact) - rankOf(b.fact) || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function step(state: PaymentState | undefined, { at, fact }: DatedFact): PaymentState | undefined {
  if (fact.kind === 'subscription') {
    const { kind: _kind, cancelsAt = state?.cancelsAt ?? null, next = null, discount = null, isPaused = false, ...rest } = fact;
    // A period that begins while nothing is charged is not paid.
    const periodEnd = isPaused ? (state?.periodEnd ?? rest.periodEnd) : rest.periodEnd;
    const members = { ...rest, periodEnd, cancelsAt, next, discount, isPaused };
    // No provider revives a subscription that has ended.
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

/** The plan that is paid for at a time: the provider's last one from then on, else the last one before. */
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
 * True if the present state cannot be known from these facts: its newest second has two, such as a cancellation and its withdrawal, and
 * providers send events in any order. A later response of the provider comes after both.
 */
export function isUncertain(facts: readonly DatedFact[]): boolean {
  const own = facts.filter(({ fact }) => fact.kind === 'subscription');
  const newest = Math.max(...own.map(({ at }) => at));
  const [first, ...others] = own.filter(({ at }) => at === newest).map(({ fact }) => fact);
  return others.some((fact) => !isDeepStrictEqual(fact, first));
}

/** The seller's terms, from `billing.payments` of the catalogue. */
export interface GraceTerms {
  /** Days after a failed payment during which the plan continues. */
  readonly graceDays: number;
  /** The consequence: the product's base limits, or a suspended subscription. */
  readonly afterGrace: 'base' | 'suspend';
}

/** What the customer has: the plan, the plan without access, or nothing that was paid for. */
export type Entitlement = 'plan' | 'suspended' | 'none';

const DAY_SECONDS = 86_400;

/**
 * End of the grace, until which the plan goes on without payment; null while no payment is owed. A period that ended without news counts as
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
