import { type DashboardDeps } from '../http/dashboard-deps';
import { Refusal, type RefusalOptions } from '../http/refusal';
import { ChangeRefused, PaymentFailed, ProviderAway, ProviderRefused } from '../../selling/billing/payment-port';

/**
 * Turns a provider's errors into refusals; what the provider said goes to the log.
 * @param texts replace the table's, for what the provider decides
 * @throws Refusal `payment_away`, `payment_off`, `change_refused`, `payment_failed`
 */
export async function fromProvider<T>(
  work: Promise<T>,
  { log }: DashboardDeps,
  texts: { readonly [Kind in 'change_refused' | 'payment_failed']?: string } = {},
): Promise<T> {
  const optionsOf = (detail: string | undefined): RefusalOptions => (detail === undefined ? {} : { detail });
  try {
    return await work;
  } catch (error) {
    if (error instanceof ChangeRefused) throw new Refusal('change_refused', optionsOf(texts.change_refused));
    if (error instanceof PaymentFailed) throw new Refusal('payment_failed', optionsOf(texts.payment_failed));
    if (!(error instanceof ProviderAway) && !(error instanceof ProviderRefused)) throw error;
    log.error({ err: error }, 'a payment provider did not do what it was asked');
    throw new Refusal(error instanceof ProviderAway ? 'payment_away' : 'payment_off', { headers: { 'Retry-After': '30' } });
  }
}
