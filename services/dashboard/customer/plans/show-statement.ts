import { fromMinor, toMinor } from '../../../../plugins/core/catalogue/money';
import { type ChargeView } from '../../../selling/billing/payment-charges';
import { type MonthlyStatement } from '../../../selling/statements/read-statement';
import { type StatementView } from '../../contract/statements';

type Line = StatementView['lines'][number];

/** A statement as customers read it. */
export interface ShownStatement extends Omit<MonthlyStatement, 'lines'> {
  readonly lines: readonly Line[];
  readonly paid: readonly {
    readonly product: string;
    readonly chargedAt: Date;
    readonly amount: string;
    readonly refunded: string;
    readonly currency: string;
  }[];
}

interface Paid {
  /** What the payment provider charged in the month. */
  readonly charges: readonly ChargeView[];
  /** Products that it charges in advance. */
  readonly paidProducts: ReadonlySet<string>;
}

function toLine(line: MonthlyStatement['lines'][number], { paidProducts }: Paid): Line {
  if (!paidProducts.has(line.product)) return { ...line, isPaidInAdvance: false };
  const nothing = fromMinor(0n, line.currency);
  return { ...line, isPaidInAdvance: true, surcharge: nothing, amount: line.overage?.amount ?? nothing };
}

function totalsOf(lines: readonly Line[]): ShownStatement['totals'] {
  const sums = new Map<string, bigint>();
  for (const { currency, amount } of lines)
    if (currency !== null) sums.set(currency, (sums.get(currency) ?? 0n) + toMinor(amount, currency));
  const due = [...sums].filter(([, sum]) => sum !== 0n).sort(([a], [b]) => (a < b ? -1 : 1));
  return due.map(([currency, sum]) => ({ currency, amount: fromMinor(sum, currency) }));
}

/**
 * Of a plan that a payment provider charges in advance, a statement says what was used, what that cost above the limits, and what was paid.
 * The plan's price is no amount of the month: it was charged by the provider's periods.
 */
export function showStatement(statement: MonthlyStatement, paid: Paid): ShownStatement {
  const lines = statement.lines.map((line) => toLine(line, paid));
  return {
    ...statement,
    lines,
    totals: lines.some(({ isPaidInAdvance }) => isPaidInAdvance) ? totalsOf(lines) : statement.totals,
    paid: paid.charges.map(({ product, chargedAt, amount, refunded, currency }) => ({
      product,
      chargedAt,
      amount: fromMinor(amount, currency),
      refunded: fromMinor(refunded, currency),
      currency,
    })),
  };
}
