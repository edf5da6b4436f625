import { type ChargeFact, type DatedFact } from '../paid-plans/payment-state';

/** What one invoice of a payment provider came to. Amounts are whole units of the currency's smallest part, moments seconds since 1970. */
export interface Charge extends Omit<ChargeFact, 'kind'> {
  /** When it was first tried. */
  readonly chargedAt: number;
  /** Null while it is not paid. */
  readonly paidAt: number | null;
  /** What went back of it so far. */
  readonly refunded: number;
  /** When the last of it went back; null while nothing did. */
  readonly refundedAt: number | null;
}

type DatedCharge = Omit<DatedFact, 'fact'> & { readonly fact: ChargeFact };

/** Whether a fact is about money that was asked for. */
export const isCharge = (dated: DatedFact): dated is DatedCharge =>
  (dated.fact.kind === 'paid' || dated.fact.kind === 'failed') && dated.fact.amount > 0;
/** Whether a fact changes what is known of a charge. */
export const isAboutCharge = (dated: DatedFact): boolean => isCharge(dated) || dated.fact.kind === 'refunded';

/** Each fact names all that was refunded of a payment so far; the first that names so much says when. */
function refundsOf(facts: readonly DatedFact[], invoice: string): Pick<Charge, 'refunded' | 'refundedAt'> {
  const told = new Map<string, { amount: number; at: number }>();
  for (const { fact, at } of facts) {
    if (fact.kind !== 'refunded' || fact.invoice !== invoice) continue;
    const known = told.get(fact.payment);
    const isMore = !known || fact.amount > known.amount || (fact.amount === known.amount && at < known.at);
    if (isMore) told.set(fact.payment, { amount: fact.amount, at });
  }
  const all = [...told.values()];
  return {
    refunded: all.reduce((sum, { amount }) => sum + amount, 0),
    refundedAt: all.length === 0 ? null : Math.max(...all.map(({ at }) => at)),
  };
}

function chargeOf(facts: readonly DatedCharge[], all: readonly DatedFact[]): Charge[] {
  const sorted = facts.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const paid = sorted.find(({ fact }) => fact.kind === 'paid');
  const [first] = sorted;
  const told = paid ?? sorted.at(-1);
  if (!first || !told) return [];
  const { kind: _kind, ...members } = told.fact;
  return [{ ...members, chargedAt: first.at, paidAt: paid?.at ?? null, ...refundsOf(all, members.invoice) }];
}

/** What a subscription was charged, each invoice once; nothing where nothing was to be paid. The order of the facts does not matter. */
export function chargesOf(facts: readonly DatedFact[]): Charge[] {
  const byInvoice = new Map<string, DatedCharge[]>();
  for (const each of facts.filter(isCharge)) byInvoice.set(each.fact.invoice, [...(byInvoice.get(each.fact.invoice) ?? []), each]);
  return [...byInvoice.values()].flatMap((each) => chargeOf(each, facts));
}
