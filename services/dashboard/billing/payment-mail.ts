import { type PaymentTerms } from '../../../plugins/core/catalogue/billing-terms';
import { fromMinor } from '../../../plugins/core/catalogue/money';
import { type ClaimedPaymentMail } from '../../selling/billing/payment-mails';
import { type Mail } from '../http/dashboard-deps';

/** Addresses of accounts that are gone; no mail reaches them. */
const ERASED = '@deleted.invalid';
const DAY_MS = 86_400_000;

interface Told {
  readonly title: string;
  readonly terms: PaymentTerms;
  /** Origin of the dashboard. */
  readonly url: string;
  readonly dayOf: (at: Date) => string;
}

/** What a customer is told of a payment; undefined where that is no longer true. */
export function paymentMail(mail: ClaimedPaymentMail, { title, terms, url, dayOf }: Told): Mail | undefined {
  const { kind, to, plan, status, failingSince, fact } = mail;
  if (to.endsWith(ERASED)) return undefined;
  const what = `${title}: ${plan}`;
  const amount = fact && `${fact.currency} ${fromMinor(fact.amount, fact.currency)}`;
  const link = `${url}/billing\n`;
  const receipt = fact?.url ? `\n\nReceipt: ${fact.url}` : '';
  if (kind === 'paid') {
    return { to, subject: `Receipt for ${what}`, text: `We received ${amount} for ${what}.${receipt}\n\n${link}` };
  }
  if (status !== 'failing' || failingSince === null) return undefined;
  const day = dayOf(new Date(failingSince * 1_000 + terms.grace_days * DAY_MS));
  const suspends = terms.after_grace === 'suspend';
  const after = suspends ? 'requests are refused' : 'the base limits hold';
  if (kind === 'grace_ends') {
    const text = `${what} is not paid yet, and ends on ${day}; from then on ${after}. Pay under Billing, and the plan goes on.\n\n${link}`;
    return { to, subject: `${what} ends on ${day}`, text };
  }
  if (kind === 'failed') {
    const text = `The payment of ${amount} for ${what} failed. Your plan goes on until ${day}; from then on ${after}. Check your card under Billing.\n\n${link}`;
    return { to, subject: `Payment for ${what} failed`, text };
  }
  const now = suspends ? 'Requests are refused now' : 'The base limits hold now';
  return {
    to,
    subject: `${what} has ended`,
    text: `${what} was not paid by ${day}. ${now}. Pay under Billing, and the plan is back at once.\n\n${link}`,
  };
}
