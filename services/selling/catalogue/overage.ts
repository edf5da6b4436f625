import { type Overage, type QuotaLimits } from '../../../plugins/core/catalogue/catalogue';
import { decimalsOf, fromMinor, shareOf, toMinor } from '../../../plugins/core/catalogue/money';

/** Where the gateway refuses: at the cap of a plan that sells more than its limits, else at the limits. */
export function enforcedLimits({ daily, monthly, overage }: QuotaLimits & { readonly overage?: Overage | undefined }): QuotaLimits {
  return overage?.cap ?? { daily, monthly };
}

/**
 * Units of one subscription that a plan without overage would have refused, day by day: those above the day's limit, then those above what
 * is left of the month's. Each unit of a day is in one of the two parts.
 */
export class IncludedUse {
  private included = 0;

  /** @param used of the next day @returns how many of them are above the limits */
  addDay(used: number, { daily, monthly }: QuotaLimits): number {
    const inside = Math.max(0, Math.min(used, daily, monthly - this.included));
    this.included += inside;
    return Math.max(0, used - inside);
  }
}

/** Payment providers charge currencies with three decimals in steps of ten; see check-catalogue.ts. */
const stepOf = (currency: string | null): bigint => (decimalsOf(currency) === 3 ? 10n : 1n);

/** `units × price ÷ per`, rounded half up to what can be paid in the currency. With the currency's decimals. */
export function overageAmount(units: number, { per, price }: Pick<Overage, 'per' | 'price'>, currency: string | null): string {
  const step = stepOf(currency);
  return fromMinor(shareOf(toMinor(price, currency), BigInt(units), BigInt(per) * step) * step, currency);
}
