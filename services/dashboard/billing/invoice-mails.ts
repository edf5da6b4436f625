import { fromMinor } from '../../../plugins/core/catalogue/money';
import { type InvoiceView, requireInvoice } from '../../selling/billing/invoice-view';
import { mailAddress } from '../../selling/customers/mail-address';
import { type InvoiceNews } from '../../selling/outbox/outbox';
import { type Mail, todayOf } from '../http/dashboard-deps';
import { type WriteMails } from '../mail/start-mails';

export const writeInvoiceMails: WriteMails<'invoice'> = async ({ subject: id, detail: news }, tools) => {
  const { db, url } = tools;
  const invoice = await requireInvoice(db, { id, today: todayOf(tools) });
  const to = await mailAddress(db, invoice.customerId, 'billing');
  const mail = invoiceMail({ invoice, news, to }, url);
  return mail && { mails: [mail] };
};

interface ToldInvoice {
  readonly invoice: InvoiceView;
  readonly news: InvoiceNews;
  readonly to: string;
}

/**
 * The customer's mail about an invoice; undefined if its news is no longer true.
 * @param url origin of the dashboard
 */
function invoiceMail({ invoice, news, to }: ToldInvoice, url: string): Mail | undefined {
  const { number, month, currency, total, dueOn, state, credit, content, reason, paidOn, paidThrough } = invoice;
  const amount = `${currency} ${fromMinor(total, currency)}`;
  const link = `${url}/billing/${invoice.id}\n`;
  const isOwed = state === 'open' || state === 'overdue';
  const pay = content.payment === null ? '' : `\n\nHow to pay: ${content.payment}`;
  switch (news) {
    case 'issued':
      if (paidThrough !== null) {
        const text = `We received ${amount} on ${paidOn}. Invoice ${number} is for it.\n\n${link}`;
        return { to, subject: `Invoice ${number} from ${content.seller.name}`, text };
      }
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
        text: `Invoice ${number} for ${month}, ${amount}, was due on ${dueOn} and is not marked as paid. If you have paid it since, there is nothing to do.${pay}\n\n${link}`,
      };
    case 'paid':
      return { to, subject: `Receipt for invoice ${number}`, text: `We received ${amount} for invoice ${number} on ${paidOn}.\n\n${link}` };
    case 'credited':
      if (paidThrough !== null) {
        const text = `${amount} of what you paid for invoice ${credit} was refunded. Credit note ${number} is for it:\n\n${reason}\n\n${link}`;
        return { to, subject: `Credit note ${number}`, text };
      }
      return {
        to,
        subject: `Credit note ${number}`,
        text: `Invoice ${credit} over ${amount} was cancelled by credit note ${number}:\n\n${reason}\n\n${link}`,
      };
  }
}
