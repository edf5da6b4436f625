import { Badge } from '@mantine/core';
import { type ReactNode } from 'react';
import { type InvoiceState, type InvoiceSummaryView } from '../../../contract/billing';
import { type Column } from '../../parts/components/data-table';
import { formatPrice } from '../../parts/format/numbers';

export const STATE_NAMES: Readonly<Record<InvoiceState, string>> = {
  open: 'Due',
  overdue: 'Overdue',
  paid: 'Paid',
  credited: 'Credited',
  issued: 'Credit note',
};

const COLOURS: Readonly<Record<InvoiceState, string>> = { open: 'blue', overdue: 'red', paid: 'green', credited: 'gray', issued: 'gray' };

export function InvoiceStateBadge({ state }: { readonly state: InvoiceState }): ReactNode {
  return (
    <Badge variant="light" color={COLOURS[state]}>
      {STATE_NAMES[state]}
    </Badge>
  );
}

const dates = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' });

/** `3 Apr 2026`, of `2026-04-03`: books need the year. */
export const formatDate = (day: string): string => dates.format(new Date(`${day}T00:00:00Z`));

/** `March 2027`, of `2027-03`. */
export function formatMonth(month: string): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', month: 'long', year: 'numeric' }).format(new Date(`${month}-01T00:00:00Z`));
}

/** Amounts of a credit note have a minus. */
export const totalOf = ({ kind, total, currency }: Pick<InvoiceSummaryView, 'kind' | 'total' | 'currency'>): string =>
  formatPrice({ price: kind === 'credit_note' ? `-${total}` : total, currency });

/** The columns that customers and the seller see in a list of invoices. */
export const INVOICE_FACTS: readonly Column<InvoiceSummaryView>[] = [
  { header: 'Month', cell: ({ month }) => formatMonth(month) },
  { header: 'Issued', cell: ({ issuedOn }) => formatDate(issuedOn) },
  { header: 'Due', cell: ({ kind, dueOn }) => (kind === 'credit_note' ? '–' : formatDate(dueOn)) },
  { header: 'State', cell: ({ state }) => <InvoiceStateBadge state={state} /> },
  { header: 'Total', isNumber: true, cell: totalOf },
];
