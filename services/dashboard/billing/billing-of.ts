import { type Pool } from 'pg';
import { type BillingTerms, type InvoicingTerms, isInvoicing } from '../../../plugins/core/catalogue/billing-terms';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { requireInvoice } from '../../selling/billing/invoice-view';
import { issueInvoices } from '../../selling/billing/issue-invoices';
import { creditInvoice } from '../../selling/billing/settle-invoice';
import { OperationRefused } from '../../selling/operations/operation-refused';
import { type BillingPort } from './billing-port';

/** Issues nothing. Invoices of before are still shown, paid and credited: money that is owed stays owed. */
export function createNoBilling(db: Pool, terms?: BillingTerms): BillingPort {
  return {
    provider: 'none',
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

/** Numbers and mails invoices; an operator marks them paid. */
export function createInvoiceBilling(db: Pool, { terms, catalogue }: { terms: InvoicingTerms; catalogue: Catalogue }): BillingPort {
  const titleOf = (product: string): string => catalogue.find(product)?.title ?? product;
  return {
    ...createNoBilling(db, terms),
    provider: 'invoice',
    issueInvoices: (work) => issueInvoices(db, { ...work, terms, titleOf }),
    isInvoiced: (month) => month >= terms.invoices.from,
  };
}

/** How the catalogue says that customers are billed. */
export function billingOf(db: Pool, catalogue: Catalogue): BillingPort {
  const { billing: terms } = catalogue;
  return terms?.provider === 'invoice' && isInvoicing(terms) ? createInvoiceBilling(db, { terms, catalogue }) : createNoBilling(db, terms);
}
