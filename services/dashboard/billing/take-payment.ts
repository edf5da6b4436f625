import { type Pool } from 'pg';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { toMinor, toSafeNumber } from '../../../plugins/core/catalogue/money';
import { type Clock } from '../../../plugins/core/ports';
import {
  type Checkout,
  type CheckoutTerms,
  endCheckout,
  findAccount,
  hasTerms,
  isFor,
  keepAccount,
  noteSession,
  openCheckout,
  type WantedCheckout,
} from '../../selling/billing/checkouts';
import { applyPayments } from '../../selling/billing/apply-payments';
import { wasPaid } from '../../selling/paid-plans/paid-subscriptions';
import { takeTrial } from '../../selling/paid-plans/trials';
import { type GivenFact, keepFacts } from '../../selling/billing/payment-facts';
import { OperationRefused } from '../../selling/operations/operation-refused';
import { findPlan } from '../customer/plans/plan-terms';
import { type CheckoutOutcome, type PaymentPort, ProviderRefused } from '../../selling/billing/payment-port';
import { isPaidFirst, termsOf } from '../../selling/billing/payments-of';

export interface PaymentTools {
  readonly db: Pool;
  readonly clock: Clock;
  readonly catalogue: () => Promise<Catalogue>;
}

/**
 * Stores the provider's response, then applies it as of the provider's own time. If the process is killed in between, the next look does
 * the rest.
 */
export async function applyFacts({ db, clock, catalogue }: PaymentTools, provider: string, facts: readonly GivenFact[]): Promise<void> {
  await keepFacts(db, provider, facts);
  const terms = termsOf(await catalogue());
  const moments = new Map(facts.map(({ subscription, at }) => [subscription, at]));
  for (const [reference, at] of moments) await applyPayments(db, { provider, reference, terms, now: clock.now() / 1_000, at });
}

/** The terms on which a plan is paid in advance; undefined if it is not sold, or not in advance. */
export function termsToPay(catalogue: Catalogue, wanted: { readonly product: string; readonly plan: string }): CheckoutTerms | undefined {
  const offered = findPlan(catalogue, wanted);
  if (!offered || !isPaidFirst(offered)) return undefined;
  const { name: plan, currency, daily, monthly, overage = null } = offered;
  return { plan, price: toSafeNumber(toMinor(offered.price, currency)), currency, daily, monthly, overage };
}

/** Whether a checkout's plan is still sold at its price and with its limits. */
export function isStillSold(catalogue: Catalogue, checkout: Checkout): boolean {
  const terms = termsToPay(catalogue, checkout);
  return catalogue.find(checkout.product)?.subscribable === true && terms !== undefined && hasTerms(checkout, terms);
}

/** Applies the outcome of a checkout: the plan first, then the checkout's end, so that no payment is forgotten. */
export async function settleCheckout(tools: PaymentTools, checkout: Checkout, { state, facts }: CheckoutOutcome): Promise<void> {
  await applyFacts(tools, checkout.provider, facts);
  if (state !== 'open') await endCheckout(tools.db, checkout.id, state);
}

interface CheckoutPlace {
  readonly port: PaymentPort;
  /** Origin of the dashboard. */
  readonly url: string;
  /** The customer's address, for the provider's own mails. */
  readonly email: string;
  /** Name of the mailbox; see mailbox.ts. */
  readonly mailbox: string;
}

/** Our page of a checkout. @param url origin of the dashboard */
export const returnUrl = (url: string, id: string): string => `${url}/billing/checkouts/${id}`;

async function pageOf(tools: PaymentTools, checkout: Checkout, { port, url, email, mailbox }: CheckoutPlace) {
  const { id, customerId, product, provider } = checkout;
  const account = await findAccount(tools.db, { customerId, provider });
  const sold = await tools.catalogue();
  const title = sold.find(product)?.title ?? product;
  const { trial_days: trialDays, promotion_codes: takesCodes } = termsOf(sold);
  const isPaidBefore = trialDays === 0 || (await wasPaid(tools.db, customerId, product));
  const hasTrial = !isPaidBefore && (await takeTrial(tools.db, { product, mailbox, customerId }));
  const page = await port.openCheckout({
    ...checkout,
    title,
    account,
    email,
    trialDays: hasTrial ? trialDays : 0,
    takesCodes,
    returnUrl: returnUrl(url, id),
    cancelUrl: returnUrl(url, id),
  });
  if (page.account !== undefined && page.account !== account) await keepAccount(tools.db, { customerId, provider, account: page.account });
  await noteSession(tools.db, id, page);
  return page;
}

/**
 * Opens the checkout's page. The checkout ends if nobody has seen its page and the provider now refuses it: an earlier request used other
 * words, and its process was killed before the response.
 * @returns undefined if the checkout ended
 */
async function pageOrEnd(tools: PaymentTools, checkout: Checkout, { place, isLast }: { place: CheckoutPlace; isLast: boolean }) {
  try {
    return await pageOf(tools, checkout, place);
  } catch (error) {
    if (!(error instanceof ProviderRefused) || checkout.session !== null || isLast) throw error;
    await endCheckout(tools.db, checkout.id, 'closed');
    return undefined;
  }
}

/** A payment may be paid or end while the next one is being requested. */
const ATTEMPTS = 3;

/**
 * The provider's page on which a customer pays for a plan. A product has at most one open checkout: asking again for the same plan leads
 * back to it, and asking for another plan first closes it at the provider.
 * @throws OperationRefused `plan_paid` if the earlier one was paid meanwhile; ProviderAway, ProviderRefused
 */
export async function takePayment(tools: PaymentTools, wanted: WantedCheckout, place: CheckoutPlace): Promise<{ id: string; url: string }> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const checkout = await openCheckout(tools.db, wanted);
    const isSame = isFor(checkout, wanted);
    const isNew = checkout.session === null && isSame;
    const page = await pageOrEnd(tools, checkout, { place, isLast: attempt > 0 });
    if (!page) continue;
    const outcome = await place.port.settleCheckout(page.session, isSame ? 'look' : 'close');
    await settleCheckout(tools, checkout, outcome);
    if (outcome.state === 'paid') {
      const text = 'the previous checkout was just paid; check the plan that it gave first';
      throw new OperationRefused('plan_paid', text);
    }
    if (outcome.state === 'open' && isSame) return { id: checkout.id, url: page.url };
    // A request for another plan has closed this page meanwhile; this request gets that plan's page.
    if (isNew) break;
  }
  throw new OperationRefused('checkout_closed', 'another checkout was opened in the meantime; ask again');
}
