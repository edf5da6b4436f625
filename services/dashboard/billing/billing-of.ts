import { type Pool } from 'pg';
import { type BillingTerms, type InvoicingTerms, isInvoicing } from '../../../plugins/core/catalogue/billing-terms';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { requireInvoice } from '../../selling/billing/invoice-view';
import { issueInvoices } from '../../selling/billing/issue-invoices';
import { issuePaymentInvoices } from '../../selling/billing/issue-payment-invoices';
import { creditInvoice } from '../../selling/billing/settle-invoice';
import { OperationRefused } from '../../selling/operations/operation-refused';
import { type BillingPort } from './billing-port';

const MINUTE_MS = 60_000;

/** Issues nothing. Earlier invoices are still shown, paid and credited, because what is owed stays owed. */
export function createNoBilling(db: Pool, terms?: BillingTerms): BillingPort {
  return {
    provider: 'none',
    everyMs: MINUTE_MS,
    issueInvoices: () => Promise.resolve(0),
    isInvoiced: () => false,
    async creditInvoice(credit) {
      await requireInvoice(db, credit);
      if (!isInvoicing(terms))
        throw new OperationRefused('billing_off', 'credit notes need billing in the catalogue, which names their series');
      return creditInvoice(db, { ...credit, terms });
    },
  };
}

interface Invoicing {
  readonly terms: InvoicingTerms;
  readonly catalogue: Catalogue;
}

const titlesOf =
  ({ catalogue }: Invoicing) =>
  (product: string): string =>
    catalogue.find(product)?.title ?? product;

/** Numbers and mails an invoice for each payment and a credit note for each refund that a payment provider confirms. */
function createPaymentBilling(db: Pool, invoicing: Invoicing & { readonly timeZone: string }): BillingPort {
  const { terms, timeZone } = invoicing;
  return {
    ...createNoBilling(db, terms),
    // Asked for at any time: a payment has its invoice within 10 seconds.
    everyMs: 0,
    issueInvoices: (work) => issuePaymentInvoices(db, { ...work, terms, timeZone, titleOf: titlesOf(invoicing) }),
  };
}

/** Numbers and mails invoices; an operator marks them paid. */
export function createInvoiceBilling(db: Pool, invoicing: Invoicing): BillingPort {
  const { terms } = invoicing;
  return {
    ...createNoBilling(db, terms),
    provider: 'invoice',
    issueInvoices: (work) => issueInvoices(db, { ...work, terms, titleOf: titlesOf(invoicing) }),
    isInvoiced: (month) => month >= terms.invoices.from,
  };
}

/** How the catalogue says that customers are billed. @param timeZone in which quota days turn */
export function billingOf(db: Pool, catalogue: Catalogue, timeZone: string): BillingPort {
  const { billing: terms } = catalogue;
  if (!isInvoicing(terms)) return createNoBilling(db, terms);
  if (terms.provider === 'invoice') return createInvoiceBilling(db, { terms, catalogue });
  return terms.invoices.for === 'each_payment' ? createPaymentBilling(db, { terms, catalogue, timeZone }) : createNoBilling(db, terms);
}
