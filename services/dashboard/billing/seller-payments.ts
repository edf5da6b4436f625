import { randomUUID } from 'node:crypto';
import { windowsAt } from '../../../plugins/core/access/quota';
import { fitsDecimals, fromMinor, toMinor, toSafeNumber } from '../../../plugins/core/catalogue/money';
import { sumInvoices } from '../../selling/billing/invoice-view';
import { listUnchargedOverage } from '../../selling/billing/overage-charges';
import { type ChargeFilter, type ChargeView, listCharges, requireCharge, sumCharges } from '../../selling/billing/payment-charges';
import { type DiscountWish } from '../../selling/billing/payment-port';
import { closeRefund, openRefund, releaseRefund } from '../../selling/billing/refund-intents';
import { requireCustomer } from '../../selling/customers/find-customer';
import { writeAudit } from '../../selling/customers/write-audit';
import { OperationRefused } from '../../selling/operations/operation-refused';
import { type PaidSubscription } from '../../selling/paid-plans/paid-subscriptions';
import { type BillingSums } from '../contract/billing';
import { type Given } from '../contract/endpoint';
import { type paymentEndpoints, type sellerPaymentEndpoints } from '../contract/seller-payments';
import { type Call, type Handlers } from '../http/bind-endpoint';
import { type DashboardDeps, todayOf } from '../http/dashboard-deps';
import { Refusal } from '../http/refusal';
import { csvRecord, readPages } from '../http/csv';
import { changePaid, portOfPaid, requirePaid } from './change-payment';
import { fromProvider } from './from-provider';
import { listPaidPlans } from './payment-handlers';
import { applyFacts } from './take-payment';

type Sums = Given<BillingSums>['months'][number];

const byMonth = (a: Sums, b: Sums): number =>
  b.month.localeCompare(a.month) || a.currency.localeCompare(b.currency) || a.by.localeCompare(b.by);

/** Sums of Tollgate's own invoices and of payment providers, by month and currency. Null: unknown. */
export async function sellerSums(deps: DashboardDeps): Promise<Sums[]> {
  const { db, timeZone } = deps;
  const invoices = await sumInvoices(db, { today: todayOf(deps) });
  const charges = await sumCharges(db, timeZone);
  const rows = [
    ...invoices.map((each) => ({ ...each, by: 'invoice', failed: null })),
    ...charges.map(({ provider, charges: count, charged, refunded, ...each }) => ({
      ...each,
      by: provider,
      invoices: count,
      invoiced: charged,
      credited: refunded,
    })),
  ];
  const months = rows.map(({ month, currency, by, invoices: count, ...sums }): Sums => {
    const text = (amount: string): string => fromMinor(BigInt(amount), currency);
    const known = (amount: string | null): string | null => (amount === null ? null : text(amount));
    const { invoiced, paid, due, overdue, failed, credited } = sums;
    return {
      month,
      currency,
      by: by as Sums['by'],
      invoices: count,
      invoiced: text(invoiced),
      paid: known(paid),
      due: text(due),
      overdue: text(overdue),
      failed: known(failed),
      credited: text(credited),
    };
  });
  return months.sort(byMonth);
}

/** At most this many are shown; `billing reconcile` prints all. */
const UNCHARGED_SHOWN = 100;

/** Use above limits that a payment provider refuses to charge, the oldest first. */
export async function unchargedOverage({ db }: DashboardDeps): Promise<Given<BillingSums>['uncharged']> {
  const found = await listUnchargedOverage(db, UNCHARGED_SHOWN);
  return found.map(({ amount, currency, ...each }) => ({ ...each, currency, amount: fromMinor(amount, currency) }));
}

const isOwed = ({ state }: ChargeView): boolean => state === 'due' || state === 'overdue';

const toPayment = ({ invoice: reference, provider, amount, refunded, ...charge }: ChargeView) => ({
  ...charge,
  provider: provider as Sums['by'],
  reference,
  amount: fromMinor(amount, charge.currency),
  refunded: fromMinor(refunded, charge.currency),
});

const RETRY_TEXTS = {
  change_refused: 'Nothing is owed for this payment any more.',
  payment_failed: 'The charge was declined once more. Nothing was charged.',
};
/** Razorpay retries a card only from its own pages: https://razorpay.com/docs/payments/subscriptions/manually-charge-card */
const NO_RETRY = 'The payment provider does not accept this request. Open the subscription in its dashboard, and charge its invoice there.';

/** Charges what is owed once more. The audit log records the request; the payments show the outcome. */
async function retryPayment({ body, caller: { actor } }: Call<'POST /operator/payments/retry'>, deps: DashboardDeps): Promise<void> {
  const { db, clock, payments } = deps;
  const charge = await requireCharge(db, { provider: body.provider, invoice: body.reference });
  if (!isOwed(charge)) throw new Refusal('change_refused', { detail: RETRY_TEXTS.change_refused });
  const port = payments?.ports[charge.provider];
  if (!port) throw new Refusal('payment_off');
  if (!port.chargeAgain) throw new Refusal('change_refused', { detail: NO_RETRY });
  const { customerId, product, currency, invoice, provider } = charge;
  const details = { product, amount: fromMinor(charge.amount, currency), currency, reference: invoice };
  await writeAudit(db, { actor, action: 'payment.retry', subject: { kind: 'customer', id: customerId }, details });
  await applyFacts(deps, provider, await fromProvider(port.chargeAgain(invoice, clock.now()), deps, RETRY_TEXTS));
}

const REFUND_TEXTS = {
  unpaid: 'Nothing was paid that could be refunded.',
  taken: 'This payment is being refunded. Check again in a minute.',
  too_much: 'Less than that is left of this payment.',
} as const;
const REFUND_CHANGED = 'Part of this payment was refunded in the meantime. Check it, and decide again.';
const REFUND_REFUSED = { change_refused: 'The payment provider refused the refund. Its dashboard says why.' };

/** @throws OperationRefused `price_malformed` */
function minorOf(amount: string, currency: string): number {
  if (!fitsDecimals(amount, currency)) throw new OperationRefused('price_malformed', `the amount has more decimals than ${currency}`);
  return toSafeNumber(toMinor(amount, currency));
}

/**
 * Gives a payment back, or a part of it. The refund is stored under an id of ours before the provider is asked. If the response is lost,
 * the next request first asks for that same refund again, whatever it wants itself.
 */
async function refundPayment({ body, caller: { actor } }: Call<'POST /operator/payments/refund'>, deps: DashboardDeps): Promise<void> {
  const { db, payments } = deps;
  const charge = await requireCharge(db, { provider: body.provider, invoice: body.reference });
  const { provider, invoice, currency, customerId, product } = charge;
  const wanted = { amount: minorOf(body.amount, currency), refunded: minorOf(body.refunded, currency), reason: body.reason };
  const port = payments?.ports[provider];
  if (!port) throw new Refusal('payment_off');
  const intent = await openRefund(db, { provider, invoice }, wanted);
  if (intent === 'changed') throw new Refusal('version_conflict', { detail: REFUND_CHANGED });
  if (typeof intent === 'string') throw new Refusal('change_refused', { detail: REFUND_TEXTS[intent] });
  const { id, amount, isAgain } = intent;
  const details = { product, amount: fromMinor(amount, currency), currency, reference: invoice, reason: body.reason };
  const line = { actor, action: 'payment.refund', subject: { kind: 'customer', id: customerId } } as const;
  await writeAudit(db, { ...line, details });
  try {
    await applyFacts(deps, provider, await fromProvider(port.refund(invoice, { id, amount, currency, isAgain }), deps, REFUND_REFUSED));
    await closeRefund(db, id);
  } catch (error) {
    const isRefused = error instanceof Refusal && error.kind === 'change_refused';
    await (isRefused ? closeRefund(db, id, isRefused) : releaseRefund(db, id));
    if (isRefused) await writeAudit(db, { ...line, details: { ...details, refused: error.kind } });
    throw error;
  }
  if (!isAgain) return;
  const { refunded } = await requireCharge(db, { provider, invoice });
  if (refunded !== wanted.refunded + wanted.amount) throw new Refusal('version_conflict', { detail: REFUND_CHANGED });
}

type DiscountCall = Call<'PUT /operator/customers/:id/paid-plans/:paid/discount'>;

const NO_DISCOUNTS =
  'The payment provider does not accept a discount for one subscription from other programs. In its dashboard, create an offer and link it to the subscription.';

/** @throws OperationRefused `price_malformed` for more than the price */
function wishOf({ discount, months, reason }: DiscountCall['body'], { currency, price }: PaidSubscription): DiscountWish | null {
  if (discount === null) return null;
  const percent = 'percent' in discount ? discount.percent : null;
  const amount = 'amount' in discount ? minorOf(discount.amount, currency ?? '') : null;
  if (amount !== null && (amount === 0 || amount > (price ?? 0))) {
    throw new OperationRefused('price_malformed', 'the discount must be above 0, and no more than the price of the plan');
  }
  return { id: randomUUID(), percent, amount, currency: currency ?? '', months, name: reason };
}

/** Takes a discount off what a paying customer is charged from now on, through the provider that charges it. */
async function giveDiscount({ params, body, caller: { actor } }: DiscountCall, deps: DashboardDeps): Promise<void> {
  const paid = await requirePaid(deps, { id: params.paid, customerId: params.id });
  if (!portOfPaid(paid, deps).takesDiscounts) throw new Refusal('change_refused', { detail: NO_DISCOUNTS });
  const { plan, currency } = paid;
  const details = { plan, currency, ...body.discount, months: body.months, reason: body.reason };
  await changePaid(paid, { change: { kind: 'discount', discount: wishOf(body, paid) }, actor, details }, deps);
}

const AT_ONCE = 1_000;
const COLUMNS = [
  'provider',
  'reference',
  'charged_on',
  'month',
  'customer_id',
  'customer',
  'product',
  'state',
  'paid_on',
  'amount',
  'currency',
  'url',
  'refunded',
  'refunded_on',
];

/** For bookkeeping: one record for each charge, read a page at a time. Days and months are in the quota time zone. */
async function* paymentRecords({ db, timeZone }: DashboardDeps, filter: ChargeFilter): AsyncGenerator<string> {
  const dayOf = (at: Date | null): string => (at === null ? '' : windowsAt(at.getTime() / 1_000, timeZone).day);
  yield csvRecord(COLUMNS);
  for await (const { rows } of readPages((after) => listCharges(db, { ...filter, after, limit: AT_ONCE }))) {
    for (const {
      provider,
      invoice,
      customerId,
      customer,
      product,
      state,
      chargedAt,
      paidAt,
      amount,
      currency,
      url,
      refunded,
      refundedAt,
    } of rows) {
      const charged = dayOf(chargedAt);
      const about = [provider, invoice, charged, charged.slice(0, 7), customerId, customer, product, state, dayOf(paidAt)];
      yield csvRecord([...about, fromMinor(amount, currency), currency, url ?? '', fromMinor(refunded, currency), dayOf(refundedAt)]);
    }
  }
}

/** What a customer was charged through a payment provider. */
export const paymentListHandlers: Handlers<typeof paymentEndpoints> = {
  'GET /payments': async ({ query, caller: { customerId } }, { db, timeZone }) => {
    const { rows, next } = await listCharges(db, { ...query, customerId, timeZone });
    return { payments: rows.map(toPayment), next: next ?? null };
  },
};

/** What customers were charged through a payment provider. */
export const sellerPaymentHandlers: Handlers<typeof sellerPaymentEndpoints> = {
  'GET /operator/payments': async ({ query: { customer: customerId, ...query } }, { db, timeZone, payments }) => {
    const { rows, next } = await listCharges(db, { ...query, customerId, timeZone });
    const portOf = ({ provider }: ChargeView) => payments?.ports[provider];
    const canRetry = (charge: ChargeView): boolean => isOwed(charge) && portOf(charge)?.chargeAgain !== undefined;
    const leftOf = (charge: ChargeView): string =>
      fromMinor(charge.state === 'paid' && portOf(charge) ? Math.max(0, charge.amount - charge.refunded) : 0, charge.currency);
    const shown = rows.map((charge) => ({ ...toPayment(charge), canRetry: canRetry(charge), refundable: leftOf(charge) }));
    return { payments: shown, next: next ?? null };
  },

  'POST /operator/payments/retry': retryPayment,
  'POST /operator/payments/refund': refundPayment,

  'GET /operator/customers/:id/paid-plans': async ({ params }, deps) => {
    const { id: customerId } = await requireCustomer(deps.db, params.id);
    return { paid: await listPaidPlans(customerId, deps) };
  },

  'POST /operator/customers/:id/paid-plans/:paid/end': async ({ params, body: { when }, caller: { actor } }, deps) => {
    const paid = await requirePaid(deps, { id: params.paid, customerId: params.id });
    await changePaid(paid, { change: { kind: when === 'now' ? 'end' : 'cancel' }, actor, details: { plan: paid.plan } }, deps);
  },

  'PUT /operator/customers/:id/paid-plans/:paid/discount': giveDiscount,

  'POST /operator/customers/:id/paid-plans/:paid/resume': async ({ params, caller: { actor } }, deps) => {
    const paid = await requirePaid(deps, { id: params.paid, customerId: params.id });
    await changePaid(paid, { change: { kind: 'resume' }, actor, details: { plan: paid.plan } }, deps);
  },

  'GET /operator/payments.csv': ({ query: { customer: customerId, ...query } }, deps) => ({
    filename: `tollgate-payments-${query.month ?? todayOf(deps)}.csv`,
    content: paymentRecords(deps, { ...query, customerId, timeZone: deps.timeZone }),
  }),
};
