import { isInvoicedByPayment, type PaymentTerms } from '../../../plugins/core/catalogue/billing-terms';
import { fromMinor } from '../../../plugins/core/catalogue/money';
import { windowsAt } from '../../../plugins/core/access/quota';
import { readToldPayment, type ToldPayment } from '../../selling/billing/payment-mails';
import { termsOf } from '../../selling/billing/payments-of';
import { mailAddress } from '../../selling/customers/mail-address';
import { type Mail } from '../http/dashboard-deps';
import { type WriteMails } from '../mail/start-mails';

const DAY_SECONDS = 86_400;

export const writePaymentMails: WriteMails<'payment'> = async (item, { db, catalogue, url, timeZone }) => {
  const payment = await readToldPayment(db, item);
  if (!payment) return undefined;
  const sold = await catalogue();
  const month = windowsAt(payment.at ?? 0, timeZone).month;
  // The mailed invoice is the receipt.
  if (payment.news === 'paid' && isInvoicedByPayment(sold.billing, month)) return undefined;
  const title = sold.find(payment.product)?.title ?? payment.product;
  const to = await mailAddress(db, payment.customerId, 'billing');
  const mail = paymentMail(payment, { to, title, terms: termsOf(sold), url, timeZone });
  return mail && { mails: [mail] };
};

interface Told {
  readonly to: string;
  readonly title: string;
  readonly terms: PaymentTerms;
  readonly url: string;
  readonly timeZone: string;
}

/** The customer's mail about a payment; undefined if its news is no longer true. */
function paymentMail(payment: ToldPayment, { to, title, terms, url, timeZone }: Told): Mail | undefined {
  const { news, plan, status, failingSince, fact } = payment;
  const what = `${title}: ${plan}`;
  const amount = fact && `${fact.currency} ${fromMinor(fact.amount, fact.currency)}`;
  const link = `${url}/billing\n`;
  const receipt = fact?.url ? `\n\nReceipt: ${fact.url}` : '';
  if (news === 'paid') {
    return { to, subject: `Receipt for ${what}`, text: `We received ${amount} for ${what}.${receipt}\n\n${link}` };
  }
  if (status !== 'failing' || failingSince === null) return undefined;
  const day = windowsAt(failingSince + terms.grace_days * DAY_SECONDS, timeZone).day;
  const suspends = terms.after_grace === 'suspend';
  const after = suspends ? 'requests are refused' : 'the limits of Free apply';
  if (news === 'grace_ends') {
    const text = `${what} is not paid yet, and ends on ${day}; from then on ${after}. Pay under Billing, and the plan continues.\n\n${link}`;
    return { to, subject: `${what} ends on ${day}`, text };
  }
  if (news === 'failed') {
    const text = `The payment of ${amount} for ${what} failed. Your plan continues until ${day}; from then on ${after}. Check your card under Billing.\n\n${link}`;
    return { to, subject: `Payment for ${what} failed`, text };
  }
  const now = suspends ? 'Requests are refused now' : 'The limits of Free apply now';
  return {
    to,
    subject: `${what} has ended`,
    text: `${what} was not paid by ${day}. ${now}. Pay under Billing, and the plan is back at once.\n\n${link}`,
  };
}
