import { type BillingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { type PaymentInvoicing } from '../../selling/billing/issue-payment-invoices';
import { type InvoiceRef } from '../../selling/billing/settle-invoice';

/**
 * Who issues invoices of Tollgate's own. Invoices that are there are read and marked as paid whoever issues new ones; who takes payments
 * has a port of its own, see payment-port.ts. Days are those of the quota time zone.
 */
export interface BillingPort {
  readonly provider: BillingTerms['provider'];
  /** How long to wait at least, once it has issued what there was, before it is asked again. */
  readonly everyMs: number;
  /** Bills all that was not billed yet, once however many processes ask. @returns how many invoices were issued */
  issueInvoices(work: Pick<PaymentInvoicing, 'today' | 'isEnding' | 'onFailure' | 'paymentOf'>): Promise<number>;
  /** Whether this month's use will be invoiced. */
  isInvoiced(month: string): boolean;
  /** A credit note over the whole of an invoice. @throws OperationRefused `invoice_unknown`, `invoice_settled`; `billing_off` where the catalogue has no `billing` */
  creditInvoice(credit: InvoiceRef & { readonly reason: string }): Promise<{ readonly id: string }>;
}
