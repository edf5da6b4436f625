import { graceEnd } from '../../selling/billing/payment-state';
import { type PaymentTerms } from '../../../plugins/core/catalogue/billing-terms';
import { fromMinor } from '../../../plugins/core/catalogue/money';
import { findAccount, requireCheckout } from '../../selling/billing/checkouts';
import { listOverage } from '../../selling/billing/overage-charges';
import { askSoon, listPaid, type PaidSubscription } from '../../selling/billing/paid-subscriptions';
import { type Actor, writeAudit } from '../../selling/customers/write-audit';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../../selling/operations/operation-refused';
import { requireConsent } from '../../selling/subscriptions/require-consent';
import { requireOfferedPlan } from '../../selling/subscriptions/subscription-terms';
import { type billingEndpoints } from '../contract/billing';
import { type Call, type Handlers } from '../http/bind-endpoint';
import { type DashboardDeps } from '../http/dashboard-deps';
import { Refusal } from '../http/refusal';
import { findPlan, refuseOtherTerms, refuseOwnPriced, refusePaid, refuseWithoutApproval } from '../customer/plans/plan-terms';
import { fromProvider } from './from-provider';
import { type PaymentPort, type PlanSwitch, type SubscriptionChange } from '../../selling/billing/payment-port';
import { type Payments, portOf, termsOf } from '../../selling/billing/payments-of';
import { applyFacts, isStillSold, returnUrl, takePayment, termsToPay } from './take-payment';

/** @throws Refusal `payment_off` */
async function requirePort({ catalogue, payments }: DashboardDeps): Promise<PaymentPort> {
  const port = portOf(await catalogue(), payments);
  if (!port) throw new Refusal('payment_off');
  return port;
}

/** The provider that has a subscription, which may be another than the one that takes payments now. */
function portOfPaid({ provider }: PaidSubscription, { payments }: DashboardDeps): PaymentPort {
  const port = payments?.ports[provider];
  if (!port) throw new Refusal('payment_off');
  return port;
}

const momentOf = (seconds: number): Date => new Date(seconds * 1_000);

/** As the contract has it; none before the provider has said what it is. */
function toPaidPlan(
  paid: PaidSubscription,
  { terms, now, payments }: { terms: PaymentTerms; now: number; payments: Payments | undefined },
) {
  const { id, product, plan, status, price, currency, periodEnd, cancelsAt, failingSince, entitlement } = paid;
  if (plan === null || price === null || currency === null || periodEnd === null) return [];
  if (status === null || status === 'waiting' || status === 'ended') return [];
  const state = { status, plan, price, currency, periodEnd, cancelsAt, failingSince };
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
      isGiven: entitlement === 'plan',
      isCancelFinal: payments?.ports[paid.provider]?.isCancelFinal ?? false,
    },
  ];
}

/** What a customer pays in advance. */
export async function readPaidPlans(customerId: string, { db, catalogue, clock, payments }: DashboardDeps) {
  const sold = await catalogue();
  const paid = await listPaid(db, customerId);
  const port = portOf(sold, payments);
  const hasPortal = port?.openPortal !== undefined && (await findAccount(db, { customerId, provider: port.name })) !== undefined;
  const at = { terms: termsOf(sold), now: clock.now() / 1_000, payments };
  const above = (await listOverage(db, customerId)).map((each) => ({ ...each, amount: fromMinor(each.amount, each.currency) }));
  return { paid: paid.flatMap((each) => toPaidPlan(each, at)), hasPortal, above };
}

/** @throws OperationRefused `paid_plan_unknown`, also for another customer's */
async function requirePaid({ db }: DashboardDeps, { id, customerId }: { id: string; customerId: string }): Promise<PaidSubscription> {
  const paid = (await listPaid(db, customerId)).find((each) => each.id === id);
  if (!paid) throw new OperationRefused('paid_plan_unknown', 'there is no paid plan with this id');
  return paid;
}

/** The plan that is wanted in place of the one that is paid. @throws Refusal `plan_free`, `currency_differs`; OperationRefused `plan_current` */
async function wantedSwitch(paid: PaidSubscription, plan: string, deps: DashboardDeps): Promise<Omit<PlanSwitch, 'at'>> {
  const wanted = { product: paid.product, plan };
  await refuseWithoutApproval(wanted, deps);
  const sold = await deps.catalogue();
  if (!findPlan(sold, wanted)) throw new OperationRefused('plan_unknown', `there is no plan "${plan}"`);
  const offered = termsToPay(sold, wanted);
  if (!offered) throw new Refusal('plan_free');
  if (offered.currency !== paid.currency) throw new Refusal('currency_differs');
  if (offered.plan === paid.plan) throw new OperationRefused('plan_current', `"${plan}" is paid already`);
  const title = sold.find(paid.product)?.title ?? paid.product;
  return { title, plan: offered.plan, price: offered.price };
}

interface AskedChange {
  readonly change: SubscriptionChange & { readonly kind: 'cancel' | 'keep' | 'switch' };
  readonly actor: Actor;
  /** For the audit log. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Asks the provider to change what is paid, and acts on its answer. Should that be lost, or this process be killed, the work asks what came
 * of it; who asked for it stands in the audit log by then.
 */
async function changePaid(paid: PaidSubscription, { change, actor, details }: AskedChange, deps: DashboardDeps): Promise<void> {
  const port = portOfPaid(paid, deps);
  const { id, customerId, product, provider, reference } = paid;
  const line = { actor, action: `payment.${change.kind}`, subject: { kind: 'customer', id: customerId } } as const;
  await inTransaction(deps.db, async (client) => {
    await askSoon(client, id);
    await writeAudit(client, { ...line, details: { product, ...details } });
  });
  try {
    await applyFacts(deps, provider, await fromProvider(port.changeSubscription(reference, change), deps));
  } catch (error) {
    // Nobody knows what came of one that was lost.
    if (error instanceof Refusal && error.kind !== 'payment_away') {
      await writeAudit(deps.db, { ...line, details: { product, ...details, refused: error.kind } });
    }
    throw error;
  }
}

const HOUR_SECONDS = 3_600;

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
  | 'POST /checkouts'
  | 'GET /checkouts/:id'
  | 'POST /paid-plans/:id/cancel'
  | 'POST /paid-plans/:id/keep'
  | 'POST /billing/portal'
  | 'POST /paid-plans/:id/preview'
  | 'PUT /paid-plans/:id/plan'
>;

/** Plans that begin when they are paid. */
export const paymentHandlers: Handlers<PaymentEndpoints> = {
  'POST /checkouts': async ({ body: { product, plan, terms, consent }, caller: { customerId, address: email, actor } }, deps) => {
    const { db, catalogue, letters } = deps;
    const port = await requirePort(deps);
    await refuseWithoutApproval({ product, plan }, deps);
    await refuseOtherTerms({ product, plan, terms }, deps);
    const offered = await inTransaction(db, async (client) => {
      await requireOfferedPlan(client, product, plan);
      const found = termsToPay(await catalogue(), { product, plan });
      if (!found) throw new Refusal('plan_free');
      await refusePaid(client, { customerId, product });
      await refuseOwnPriced(client, { customerId, product, plan: found.plan });
      await requireConsent(client, { customerId, product, consent, actor });
      return found;
    });
    const wanted = { ...offered, customerId, product, provider: port.name, actor };
    const { id, url } = await fromProvider(takePayment(deps, wanted, { port, url: letters.url, email }), deps);
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

  'POST /paid-plans/:id/preview': async ({ params: { id }, body: { plan }, caller: { customerId } }, deps) => {
    const paid = await requirePaid(deps, { id, customerId });
    const wish = { ...(await wantedSwitch(paid, plan, deps)), at: Math.floor(deps.clock.now() / 1_000) };
    const { amount, currency, isExact } = await fromProvider(portOfPaid(paid, deps).previewChange(paid.reference, wish), deps);
    return { amount: fromMinor(amount, currency), currency, isExact, at: wish.at };
  },

  'PUT /paid-plans/:id/plan': async ({ params: { id }, body: { plan, terms, at }, caller: { customerId, actor } }, deps) => {
    const paid = await requirePaid(deps, { id, customerId });
    await refuseOtherTerms({ product: paid.product, plan, terms }, deps);
    const wish = { ...(await wantedSwitch(paid, plan, deps)), at };
    if (Math.abs(deps.clock.now() / 1_000 - at) > HOUR_SECONDS) throw new Refusal('preview_old');
    const details = { before: paid.plan, after: wish.plan };
    await changePaid(paid, { change: { kind: 'switch', ...wish }, actor, details }, deps);
  },

  'POST /billing/portal': async ({ caller: { customerId } }, deps) => {
    const port = await requirePort(deps);
    const account = await findAccount(deps.db, { customerId, provider: port.name });
    if (!port.openPortal) throw new Refusal('payment_off', { detail: 'The payment provider has no such page. It mails you its invoices.' });
    if (account === undefined) throw new Refusal('payment_off', { detail: 'You have paid for nothing yet.' });
    return fromProvider(port.openPortal(account, `${deps.letters.url}/billing`), deps);
  },
};
