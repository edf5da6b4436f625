import { type Pool } from 'pg';
import { type Catalogue } from '../../../../plugins/core/selling/catalogue';
import { type Clock } from '../../../../plugins/core/ports';
import {
  type Checkout,
  endCheckout,
  findAccount,
  isFor,
  keepAccount,
  noteSession,
  openCheckout,
  type WantedCheckout,
} from '../../../../plugins/stores/postgres/billing/checkouts';
import { applyPayments, wasPaid } from '../../../../plugins/stores/postgres/billing/paid-subscriptions';
import { type GivenFact, keepFacts } from '../../../../plugins/stores/postgres/billing/payment-facts';
import { OperationRefused } from '../../../../plugins/stores/postgres/operation-refused';
import { type CheckoutOutcome, type PaymentPort } from './payment-port';
import { termsOf } from './payments-of';

export interface PaymentTools {
  readonly db: Pool;
  readonly clock: Clock;
  readonly catalogue: () => Promise<Catalogue>;
}

/** Stores facts, then makes what follows from them so. Being killed in between leaves the rest to the next look. */
export async function applyFacts({ db, clock, catalogue }: PaymentTools, provider: string, facts: readonly GivenFact[]): Promise<void> {
  await keepFacts(db, provider, facts);
  const terms = termsOf(await catalogue());
  for (const reference of new Set(facts.map(({ subscription }) => subscription))) {
    await applyPayments(db, { provider, reference, terms, now: clock.now() / 1_000 });
  }
}

/** What came of a checkout: the plan first, then the checkout's end, so that nothing paid is forgotten. */
export async function settleCheckout(tools: PaymentTools, checkout: Checkout, { state, facts }: CheckoutOutcome): Promise<void> {
  await applyFacts(tools, checkout.provider, facts);
  if (state !== 'open') await endCheckout(tools.db, checkout.id, state);
}

interface CheckoutPlace {
  readonly port: PaymentPort;
  /** Origin of the dashboard. */
  readonly url: string;
  /** Of the customer, for the provider's own mails. */
  readonly email: string;
}

async function pageOf(tools: PaymentTools, checkout: Checkout, { port, url, email }: CheckoutPlace) {
  const { id, customerId, product, provider } = checkout;
  const account = await findAccount(tools.db, { customerId, provider });
  const sold = await tools.catalogue();
  const title = sold.find(product)?.title ?? product;
  const { trial_days: trialDays, promotion_codes: takesCodes } = termsOf(sold);
  const hadTrial = trialDays === 0 || (await wasPaid(tools.db, customerId, product));
  const page = await port.openCheckout({
    ...checkout,
    title,
    account,
    email,
    trialDays: hadTrial ? 0 : trialDays,
    takesCodes,
    returnUrl: `${url}/billing/checkouts/${id}`,
    cancelUrl: `${url}/billing/checkouts/${id}`,
  });
  if (account === undefined && page.account !== undefined) await keepAccount(tools.db, { customerId, provider, account: page.account });
  await noteSession(tools.db, id, page);
  return page;
}

/** Of which one was paid or ended while the next was asked for. */
const ATTEMPTS = 3;

/**
 * The provider's page on which a customer pays for a plan. There is one open checkout for a product: asking again for the same plan leads
 * back to it, and asking for another one closes it at the provider first.
 * @throws OperationRefused `plan_paid` when the one before was paid meanwhile; ProviderAway, ProviderRefused
 */
export async function takePayment(tools: PaymentTools, wanted: WantedCheckout, place: CheckoutPlace): Promise<{ id: string; url: string }> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const checkout = await openCheckout(tools.db, wanted);
    const isSame = isFor(checkout, wanted);
    const isNew = checkout.session === null && isSame;
    const { session, url } = await pageOf(tools, checkout, place);
    if (isNew) return { id: checkout.id, url };
    const outcome = await place.port.settleCheckout(session, isSame ? 'look' : 'close');
    await settleCheckout(tools, checkout, outcome);
    if (outcome.state === 'paid') {
      const text = 'the checkout before this one was just paid; look at the plan that it gave first';
      throw new OperationRefused('plan_paid', text);
    }
    if (outcome.state === 'open' && isSame) return { id: checkout.id, url };
  }
  throw new OperationRefused('checkout_closed', 'another checkout was opened meanwhile; ask again');
}
