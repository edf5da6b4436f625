import { type BillingTerms } from '../../../../plugins/core/selling/billing-terms';
import {
  type InvoiceSummary,
  type InvoiceSums,
  type InvoicesQuery,
  type InvoiceView,
} from '../../../../plugins/stores/postgres/billing/invoice-view';
import { type IssueOptions } from '../../../../plugins/stores/postgres/billing/issue-invoices';
import { type InvoiceRef } from '../../../../plugins/stores/postgres/billing/settle-invoice';

/** How customers are invoiced; who takes payments has a port of its own, see payment-port.ts. Amounts are whole units of the currency's smallest part; days are those of the quota time zone. */
export interface BillingPort {
  readonly provider: BillingTerms['provider'];
  /** Bills every closed statement that was not billed yet, once however many processes ask. @returns how many invoices were issued */
  issueDue(work: Pick<IssueOptions, 'today' | 'isEnding' | 'onFailure'>): Promise<number>;
  /** True where this month's use will be invoiced. */
  isBilled(month: string): boolean;
  list(query: InvoicesQuery): Promise<{ readonly invoices: readonly InvoiceSummary[]; readonly next: string | undefined }>;
  /** @throws OperationRefused `invoice_unknown`, also for another customer's */
  show(ref: { readonly id: string; readonly customerId?: string | undefined; readonly today: string }): Promise<InvoiceView>;
  /** Of one customer, or of all. */
  sums(of: { readonly today: string; readonly customerId?: string | undefined }): Promise<readonly InvoiceSums[]>;
  /** @throws OperationRefused `invoice_unknown`, `invoice_settled`, `date_malformed` */
  markPaid(payment: InvoiceRef & { readonly paidOn: string; readonly reference: string }): Promise<void>;
  /** @throws OperationRefused `invoice_unknown`, `invoice_settled`; `billing_off` where the catalogue has no `billing` */
  credit(credit: InvoiceRef & { readonly reason: string }): Promise<{ readonly id: string }>;
}
