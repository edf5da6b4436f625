import { type DayAndMonth, type Overage } from '../../../plugins/core/catalogue/catalogue';
import { decimalsOf, fromMinor, shareOf, toMinor } from '../../../plugins/core/catalogue/money';

/** The refusing limits: the cap of a plan that sells more than its limits, else the limits. */
export function enforcedLimits({ daily, monthly, overage }: DayAndMonth & { readonly overage?: Overage | undefined }): DayAndMonth {
  return overage?.cap ?? { daily, monthly };
}

/**
 * The smallest amount that can be paid, in the currency's smallest unit. Payment providers charge currencies with three decimals in steps
 * of ten; see check-catalogue.ts.
 */
export const lowestStep = (currency: string | null): bigint => (decimalsOf(currency) === 3 ? 10n : 1n);

/** `units × price ÷ per`, rounded half up to what can be paid in the currency. With the currency's decimals. */
export function overageAmount(units: number, { per, price }: Pick<Overage, 'per' | 'price'>, currency: string | null): string {
  const step = lowestStep(currency);
  return fromMinor(shareOf(toMinor(price, currency), BigInt(units), BigInt(per) * step) * step, currency);
}
