import { discounted, graceEnd } from '../../selling/paid-plans/payment-state';
import { type PaymentTerms } from '../../../plugins/core/catalogue/billing-terms';
import { fromMinor } from '../../../plugins/core/catalogue/money';
import { findAccount, requireCheckout } from '../../selling/billing/checkouts';
import { listOverage } from '../../selling/billing/overage-charges';
import { listPaid, type PaidSubscription } from '../../selling/paid-plans/paid-subscriptions';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { requireConsent } from '../../selling/subscriptions/require-consent';
import { requireOfferedPlan } from '../../selling/subscriptions/subscription-terms';
import { type billingEndpoints } from '../contract/billing';
import { type Call, type Handlers } from '../http/bind-endpoint';
import { type DashboardDeps } from '../http/dashboard-deps';
import { Refusal } from '../http/refusal';
import { decideFor, refuseOtherTerms, refusePaid } from '../customer/plans/plan-terms';
import { requireUnderstood } from '../customer/plans/require-understood';
import { changePaid, requirePaid } from './change-payment';
import { fromProvider } from './from-provider';
import { type PaymentPort } from '../../selling/billing/payment-port';
import { type Payments, portOf, termsOf } from '../../selling/billing/payments-of';
import { isStillSold, returnUrl, takePayment, termsToPay } from './take-payment';

/** @throws Refusal `payment_off` */
async function requirePort({ catalogue, payments }: DashboardDeps): Promise<PaymentPort> {
  const port = portOf(await catalogue(), payments);
  if (!port) throw new Refusal('payment_off');
  return port;
}

const momentOf = (seconds: number): Date => new Date(seconds * 1_000);

/** The plan in the contract's form; undefined until the provider has reported it. */
function toPaidPlan(
  paid: PaidSubscription,
  { terms, now, payments }: { terms: PaymentTerms; now: number; payments: Payments | undefined },
) {
  const { id, product, plan, status, price, currency, periodEnd, cancelsAt, failingSince, entitlement, next, discount, isPaused } = paid;
  if (plan === null || price === null || currency === null || periodEnd === null) return [];
  if (status === null || status === 'waiting' || status === 'ended') return [];
  const state = { status, plan, price, currency, periodEnd, cancelsAt, failingSince, next, discount, isPaused };
  const port = payments?.ports[paid.provider];
  const grace = graceEnd(state, { graceDays: terms.grace_days, afterGrace: terms.after_grace }, now);
  return [
    {
      id,
      product,
      plan,
      price: fromMinor(price, currency),
      currency,
      status,
      periodEndsAt: momentOf(periodEnd),
      cancelsAt: cancelsAt === null ? null : momentOf(cancelsAt),
      graceEndsAt: grace === null ? null : momentOf(grace),
      next: next && { plan: next.plan, price: fromMinor(next.price, currency) },
      charge: fromMinor(discounted(next?.price ?? price, discount, periodEnd), currency),
      discount: discount && {
        percent: discount.percent,
        amount: discount.amount === null ? null : fromMinor(discount.amount, currency),
        until: discount.until === null ? null : momentOf(discount.until),
      },
      isPaused,
      isGiven: entitlement === 'plan',
      isCancelFinal: port?.isCancelFinal ?? false,
      takesDiscounts: port?.takesDiscounts ?? false,
    },
  ];
}

/** Plans that a customer pays for in advance. */
export async function listPaidPlans(customerId: string, { db, catalogue, clock, payments }: DashboardDeps) {
  const at = { terms: termsOf(await catalogue()), now: clock.now() / 1_000, payments };
  return (await listPaid(db, customerId)).flatMap((each) => toPaidPlan(each, at));
}

/** The same, with the provider's page and use above the limits. */
export async function readPaidPlans(customerId: string, deps: DashboardDeps) {
  const { db, catalogue, payments } = deps;
  const port = portOf(await catalogue(), payments);
  const hasPortal = port?.openPortal !== undefined && (await findAccount(db, { customerId, provider: port.name })) !== undefined;
  const above = (await listOverage(db, customerId)).map((each) => ({ ...each, amount: fromMinor(each.amount, each.currency) }));
  return { paid: await listPaidPlans(customerId, deps), hasPortal, above };
}

const change =
  (kind: 'cancel' | 'keep') =>
  async (
    { params: { id }, caller: { customerId, actor } }: Call<'POST /paid-plans/:id/cancel'> | Call<'POST /paid-plans/:id/keep'>,
    deps: DashboardDeps,
  ): Promise<void> => {
    const paid = await requirePaid(deps, { id, customerId });
    await changePaid(paid, { change: { kind }, actor, details: { plan: paid.plan } }, deps);
  };

type PaymentEndpoints = Pick<
  typeof billingEndpoints,
  'POST /checkouts' | 'GET /checkouts/:id' | 'POST /paid-plans/:id/cancel' | 'POST /paid-plans/:id/keep' | 'POST /billing/portal'
>;

/** Plans that begin when they are paid. */
export const paymentHandlers: Handlers<PaymentEndpoints> = {
  'POST /checkouts': async (
    { body: { product, plan, terms, consent, understood }, caller: { customerId, address: email, actor } },
    deps,
  ) => {
    const { db, catalogue, letters, mailboxOf } = deps;
    const port = await requirePort(deps);
    await refuseOtherTerms({ product, plan, terms }, deps);
    const offered = await inTransaction(db, async (client) => {
      await requireOfferedPlan(client, product, plan);
      await refusePaid(client, { customerId, product });
      const { kind } = await decideFor(client, { customerId, product, plan }, deps);
      const found = termsToPay(await catalogue(), { product, plan });
      if (!found || kind !== 'pay') throw new Refusal('plan_free');
      await requireConsent(client, { customerId, product, consent, actor });
      await requireUnderstood(client, { customerId, product, plan: found.plan, understood, actor }, deps);
      return found;
    });
    const wanted = { ...offered, customerId, product, provider: port.name, actor };
    const { id, url } = await fromProvider(takePayment(deps, wanted, { port, url: letters.url, email, mailbox: mailboxOf(email) }), deps);
    return { id, url: port.leadsBack ? url : returnUrl(letters.url, id) };
  },

  'GET /checkouts/:id': async ({ params: { id }, caller: { customerId } }, { db, catalogue, payments }) => {
    const checkout = await requireCheckout(db, { id, customerId });
    const { provider, state, url, price, currency } = checkout;
    const isSold = isStillSold(await catalogue(), checkout);
    const leadsBack = payments?.ports[provider]?.leadsBack ?? true;
    return { ...checkout, price: fromMinor(price, currency), url: state === 'open' && isSold ? url : null, isSold, leadsBack };
  },

  'POST /paid-plans/:id/cancel': change('cancel'),
  'POST /paid-plans/:id/keep': change('keep'),

  'POST /billing/portal': async ({ caller: { customerId } }, deps) => {
    const port = await requirePort(deps);
    const account = await findAccount(deps.db, { customerId, provider: port.name });
    if (!port.openPortal)
      throw new Refusal('payment_off', { detail: 'The payment provider has no such page. It emails you its invoices.' });
    if (account === undefined) throw new Refusal('payment_off', { detail: 'You have paid for nothing yet.' });
    return fromProvider(port.openPortal(account, `${deps.letters.url}/billing`), deps);
  },
};
