import { type BillingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { type PaymentInvoicing } from '../../selling/billing/issue-payment-invoices';
import { type InvoiceRef } from '../../selling/billing/settle-invoice';

/**
 * Issues Tollgate's own invoices. Existing invoices are read and marked as paid whoever issues new ones. Payments have a port of their own,
 * see payment-port.ts. Days are those of the quota time zone.
 */
export interface BillingPort {
  readonly provider: BillingTerms['provider'];
  /** Minimum pause, in milliseconds, after all due invoices were issued. */
  readonly everyMs: number;
  /**
   * Bills whatever was not billed yet, once however many processes ask.
   * @returns how many invoices were issued
   */
  issueInvoices(work: Pick<PaymentInvoicing, 'today' | 'isEnding' | 'onFailure' | 'paymentOf'>): Promise<number>;
  /** Whether this month's use will be invoiced. */
  isInvoiced(month: string): boolean;
  /** A credit note over the whole of an invoice. @throws OperationRefused `invoice_unknown`, `invoice_settled`; `billing_off` where the catalogue has no `billing` */
  creditInvoice(credit: InvoiceRef & { readonly reason: string }): Promise<{ readonly id: string }>;
}
