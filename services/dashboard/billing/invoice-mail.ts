import { fromMinor } from '../../../plugins/core/catalogue/money';
import { type ClaimedInvoiceMail } from '../../selling/billing/claim-invoice-mails';
import { type Mail } from '../http/dashboard-deps';

/** Addresses of accounts that are gone; no mail reaches them. */
const ERASED = '@deleted.invalid';

/**
 * What a customer is told of an invoice; undefined where that is no longer true.
 * @param url origin of the dashboard
 */
export function invoiceMail({ invoice, kind, to }: ClaimedInvoiceMail, url: string): Mail | undefined {
  if (to.endsWith(ERASED)) return undefined;
  const { number, month, currency, total, dueOn, state, credit, content, reason, paidOn } = invoice;
  const amount = `${currency} ${fromMinor(total, currency)}`;
  const link = `${url}/billing/${invoice.id}\n`;
  const isOwed = state === 'open' || state === 'overdue';
  const pay = content.payment === null ? '' : `\n\nHow to pay: ${content.payment}`;
  switch (kind) {
    case 'issued':
      if (!isOwed) return undefined;
      return {
        to,
        subject: `Invoice ${number} from ${content.seller.name}`,
        text: `Invoice ${number} for ${month} is ${amount}, due on ${dueOn}.${pay}\n\n${link}`,
      };
    case 'overdue':
      if (!isOwed) return undefined;
      return {
        to,
        subject: `Invoice ${number} is overdue`,
        text: `Invoice ${number} for ${month}, ${amount}, was due on ${dueOn} and is not marked as paid. If you have paid it since, you need not do anything.${pay}\n\n${link}`,
      };
    case 'paid':
      return { to, subject: `Receipt for invoice ${number}`, text: `We received ${amount} for invoice ${number} on ${paidOn}.\n\n${link}` };
    case 'credited':
      return {
        to,
        subject: `Credit note ${number}`,
        text: `Invoice ${credit} over ${amount} was taken back by credit note ${number}:\n\n${reason}\n\n${link}`,
      };
  }
}
