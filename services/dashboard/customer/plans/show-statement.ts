import { fromMinor } from '../../../../plugins/core/catalogue/money';
import { type ChargeView } from '../../../selling/billing/payment-charges';
import { type MonthlyStatement } from '../../../selling/statements/read-statement';

/** A statement as customers read it. */
export interface ShownStatement extends MonthlyStatement {
  readonly paid: readonly {
    readonly product: string;
    readonly chargedAt: Date;
    readonly amount: string;
    readonly refunded: string;
    readonly currency: string;
  }[];
}

/** @param charges what a payment provider charged in the month */
export function showStatement(statement: MonthlyStatement, charges: readonly ChargeView[]): ShownStatement {
  const paid = charges.map(({ product, chargedAt, amount, refunded, currency }) => ({
    product,
    chargedAt,
    amount: fromMinor(amount, currency),
    refunded: fromMinor(refunded, currency),
    currency,
  }));
  return { ...statement, paid };
}
