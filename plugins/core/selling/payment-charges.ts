import { type ChargeFact, type DatedFact } from './payment-state';

/** What one invoice of a payment provider came to. Amounts are whole units of the currency's smallest part, moments seconds since 1970. */
export interface Charge extends Omit<ChargeFact, 'kind'> {
  /** When it was first tried. */
  readonly chargedAt: number;
  /** Null while it is not paid. */
  readonly paidAt: number | null;
  /** What went back of it so far. */
  readonly refunded: number;
}

type DatedCharge = Omit<DatedFact, 'fact'> & { readonly fact: ChargeFact };

/** Whether a fact is about money that was asked for. */
export const isCharge = (dated: DatedFact): dated is DatedCharge =>
  (dated.fact.kind === 'paid' || dated.fact.kind === 'failed') && dated.fact.amount > 0;
/** Whether a fact changes what is known of a charge. */
export const isAboutCharge = (dated: DatedFact): boolean => isCharge(dated) || dated.fact.kind === 'refunded';

/** Each fact names all that was refunded of a payment so far. */
function refundedOf(facts: readonly DatedFact[], invoice: string): number {
  const told = new Map<string, number>();
  for (const { fact } of facts) {
    if (fact.kind === 'refunded' && fact.invoice === invoice) told.set(fact.payment, Math.max(fact.amount, told.get(fact.payment) ?? 0));
  }
  return [...told.values()].reduce((sum, amount) => sum + amount, 0);
}

function chargeOf(facts: readonly DatedCharge[], all: readonly DatedFact[]): Charge[] {
  const sorted = facts.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const paid = sorted.find(({ fact }) => fact.kind === 'paid');
  const [first] = sorted;
  const told = paid ?? sorted.at(-1);
  if (!first || !told) return [];
  const { kind: _kind, ...members } = told.fact;
  return [{ ...members, chargedAt: first.at, paidAt: paid?.at ?? null, refunded: refundedOf(all, members.invoice) }];
}

/** What a subscription was charged, each invoice once; nothing where nothing was to be paid. The order of the facts does not matter. */
export function chargesOf(facts: readonly DatedFact[]): Charge[] {
  const byInvoice = new Map<string, DatedCharge[]>();
  for (const each of facts.filter(isCharge)) byInvoice.set(each.fact.invoice, [...(byInvoice.get(each.fact.invoice) ?? []), each]);
  return [...byInvoice.values()].flatMap((each) => chargeOf(each, facts));
}
