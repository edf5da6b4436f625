import { type ChargeFact, type DatedFact, planAt } from '../paid-plans/payment-state';

/** The state of one invoice of a payment provider. Amounts are in the currency's smallest unit, times in seconds since 1970. */
export interface InvoiceCharge extends Omit<ChargeFact, 'kind'> {
  /** The plan that it is for; null before the provider has named one. */
  readonly plan: string | null;
  /** When it was first tried. */
  readonly chargedAt: number;
  /** Null while it is not paid. */
  readonly paidAt: number | null;
  /** The part refunded so far. */
  readonly refunded: number;
  /** The total refunded after each refund; the last one is the present total. */
  readonly refunds: readonly number[];
  /** When the last refund was made; null without one. */
  readonly refundedAt: number | null;
}

type DatedCharge = Omit<DatedFact, 'fact'> & { readonly fact: ChargeFact };

/** Whether a fact is about a charge. */
export const isCharge = (dated: DatedFact): dated is DatedCharge =>
  (dated.fact.kind === 'paid' || dated.fact.kind === 'failed') && dated.fact.amount > 0;
/** Whether a fact changes what is known of a charge. */
export const isAboutCharge = (dated: DatedFact): boolean => isCharge(dated) || dated.fact.kind === 'refunded';

/** Each fact names the total refunded of a payment so far; the first fact with a total dates it. */
function refundsOf(facts: readonly DatedFact[], invoice: string): Pick<InvoiceCharge, 'refunded' | 'refunds' | 'refundedAt'> {
  const totals = new Map<string, Map<number, number>>();
  for (const { fact, at } of facts) {
    if (fact.kind !== 'refunded' || fact.invoice !== invoice) continue;
    const steps = totals.get(fact.payment) ?? new Map<number, number>();
    totals.set(fact.payment, steps.set(fact.amount, Math.min(at, steps.get(fact.amount) ?? at)));
  }
  const parts = [...totals.values()].flatMap((steps) => {
    const sorted = [...steps].sort(([a], [b]) => a - b);
    return sorted.map(([amount, at], place) => ({ amount: amount - (sorted[place - 1]?.[0] ?? 0), at }));
  });
  const refunds: number[] = [];
  for (const { amount } of parts.toSorted((a, b) => a.at - b.at)) if (amount > 0) refunds.push((refunds.at(-1) ?? 0) + amount);
  const lastOf = (steps: Map<number, number>): number => steps.get(Math.max(...steps.keys())) ?? 0;
  return {
    refunded: refunds.at(-1) ?? 0,
    refunds,
    refundedAt: totals.size === 0 ? null : Math.max(...[...totals.values()].map(lastOf)),
  };
}

function chargeOf(facts: readonly DatedCharge[], all: readonly DatedFact[]): InvoiceCharge[] {
  const sorted = facts.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const paid = sorted.find(({ fact }) => fact.kind === 'paid');
  const [first] = sorted;
  const latest = paid ?? sorted.at(-1);
  if (!first || !latest) return [];
  const { kind: _kind, ...members } = latest.fact;
  const plan = planAt(all, (paid ?? first).at);
  return [{ ...members, plan, chargedAt: first.at, paidAt: paid?.at ?? null, ...refundsOf(all, members.invoice) }];
}

/** A subscription's charges, each invoice once; nothing if there was nothing to pay. The order of the facts does not matter. */
export function chargesOf(facts: readonly DatedFact[]): InvoiceCharge[] {
  const byInvoice = new Map<string, DatedCharge[]>();
  for (const each of facts.filter(isCharge)) byInvoice.set(each.fact.invoice, [...(byInvoice.get(each.fact.invoice) ?? []), each]);
  return [...byInvoice.values()].flatMap((each) => chargeOf(each, facts));
}
