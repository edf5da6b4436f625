import { fitsDecimals, fromMinor, toMinor, toSafeNumber } from '../../../plugins/core/catalogue/money';
import { requireCharge } from '../../selling/billing/payment-charges';
import { closeRefund, openRefund, releaseRefund } from '../../selling/billing/refund-intents';
import { writeAudit } from '../../selling/customers/write-audit';
import { OperationRefused } from '../../selling/operations/operation-refused';
import { type Call } from '../http/bind-endpoint';
import { type DashboardDeps } from '../http/dashboard-deps';
import { Refusal } from '../http/refusal';
import { fromProvider } from './from-provider';
import { applyFacts } from './take-payment';

const TEXTS = {
  unpaid: 'Nothing was paid that could be refunded.',
  taken: 'This payment is being refunded. Check again in a minute.',
  too_much: 'Less than that is left of this payment.',
} as const;
const CHANGED = 'Part of this payment was refunded in the meantime. Check it, and decide again.';
const REFUSED = { change_refused: 'The payment provider refused the refund. Its dashboard says why.' };

/** @throws OperationRefused `price_malformed` */
export function minorOf(amount: string, currency: string): number {
  if (!fitsDecimals(amount, currency)) throw new OperationRefused('price_malformed', `the amount has more decimals than ${currency}`);
  return toSafeNumber(toMinor(amount, currency));
}

/**
 * Gives a payment back, or a part of it. The refund is stored under an id of ours before the provider is asked. If the response is lost,
 * the next request first asks for that same refund again, whatever it wants itself.
 */
export async function refundPayment(
  { body, caller: { actor } }: Call<'POST /operator/payments/refund'>,
  deps: DashboardDeps,
): Promise<void> {
  const { db, payments } = deps;
  const charge = await requireCharge(db, { provider: body.provider, invoice: body.reference });
  const { provider, invoice, currency, customerId, product } = charge;
  const wanted = { amount: minorOf(body.amount, currency), refunded: minorOf(body.refunded, currency), reason: body.reason };
  const port = payments?.ports[provider];
  if (!port) throw new Refusal('payment_off');
  const intent = await openRefund(db, { provider, invoice }, wanted);
  if (intent === 'changed') throw new Refusal('version_conflict', { detail: CHANGED });
  if (typeof intent === 'string') throw new Refusal('change_refused', { detail: TEXTS[intent] });
  const { id, amount, isAgain } = intent;
  const details = { product, amount: fromMinor(amount, currency), currency, reference: invoice, reason: body.reason };
  const line = { actor, action: 'payment.refund', subject: { kind: 'customer', id: customerId } } as const;
  await writeAudit(db, { ...line, details });
  try {
    await applyFacts(deps, provider, await fromProvider(port.refund(invoice, { id, amount, currency, isAgain }), deps, REFUSED));
    await closeRefund(db, id);
  } catch (error) {
    const isRefused = error instanceof Refusal && error.kind === 'change_refused';
    await (isRefused ? closeRefund(db, id, isRefused) : releaseRefund(db, id));
    if (isRefused) await writeAudit(db, { ...line, details: { ...details, refused: error.kind } });
    throw error;
  }
  if (!isAgain) return;
  const { refunded } = await requireCharge(db, { provider, invoice });
  if (refunded !== wanted.refunded + wanted.amount) throw new Refusal('version_conflict', { detail: CHANGED });
}
