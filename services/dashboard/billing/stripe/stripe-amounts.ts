/**
 * Stripe writes these two with two decimals that must be 00, though the currencies have none.
 * https://docs.stripe.com/currencies#special-cases
 */
const PADDED: readonly string[] = ['ISK', 'UGX'];

/** @param amount in the currency's smallest unit by ISO 4217 */
export function toStripeAmount(amount: number, currency: string): number {
  return PADDED.includes(currency) ? amount * 100 : amount;
}

/** @param currency as Stripe writes it, in small letters */
export function fromStripeAmount(amount: number, currency: string): { readonly amount: number; readonly currency: string } {
  const code = currency.toUpperCase();
  return { amount: PADDED.includes(code) ? Math.round(amount / 100) : amount, currency: code };
}
