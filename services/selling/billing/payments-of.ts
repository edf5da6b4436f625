import { isPaymentProvider, PAYMENT_TERMS, type PaymentTerms } from '../../../plugins/core/catalogue/billing-terms';
import { type Catalogue, type CataloguePlan } from '../../../plugins/core/catalogue/catalogue';
import { toMinor } from '../../../plugins/core/catalogue/money';
import { type PaymentPort } from './payment-port';
import { type Charging } from '../paid-plans/plan-change';

/** Ports of the providers whose keys this process has. The sandbox stands in for others under `npm start`, and is refused elsewhere. */
export type PaymentPorts = Readonly<Partial<Record<string, PaymentPort>>>;

/** How payments are taken in this process. */
export interface Payments {
  readonly ports: PaymentPorts;
  /** Something was stored, so the work need not wait for its next look. */
  readonly poke: () => void;
}

export const termsOf = ({ billing }: Catalogue): PaymentTerms => billing?.payments ?? PAYMENT_TERMS;

/** Whether plans with a price begin when they are paid, even if the keys for it are missing. */
export function isCollecting({ billing }: Catalogue, payments: Payments | undefined): boolean {
  return billing === undefined ? payments?.ports['sandbox'] !== undefined : isPaymentProvider(billing.provider);
}

/**
 * How plans are charged.
 * @param provider of the customer's present plan, which may not be the one that takes payments now
 */
export function chargingOf(catalogue: Catalogue, payments: Payments | undefined, provider?: string): Charging {
  if (provider === undefined && !isCollecting(catalogue, payments)) return 'statement';
  const port = provider === undefined ? portOf(catalogue, payments) : payments?.ports[provider];
  return port?.chargesAtOnce === false ? 'advance_by_period' : 'advance';
}

/** The provider that takes payments now; undefined if none does, or its keys are missing. */
export function portOf(catalogue: Catalogue, payments: Payments | undefined): PaymentPort | undefined {
  if (!payments || !isCollecting(catalogue, payments)) return undefined;
  return payments.ports[catalogue.billing?.provider ?? 'sandbox'] ?? payments.ports['sandbox'];
}

/** Plans that an operator gives on request are paid as the two parties agree. */
export function isPaidFirst({ price, currency, approval }: Pick<CataloguePlan, 'price' | 'currency' | 'approval'>): boolean {
  return approval === 'automatic' && toMinor(price, currency) > 0n;
}
