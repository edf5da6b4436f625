import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type BillingSums } from '../../contract/billing';
import { type Column, DataTable } from '../parts/components/data-table';
import { EmptyState } from '../parts/components/empty-state';
import { formatCount, formatPrice } from '../parts/format/numbers';
import { formatMonth } from '../customer/plans/format-month';

type Sums = BillingSums['months'][number];

const BY: Readonly<Record<Sums['by'], string>> = {
  none: '–',
  invoice: 'Invoices',
  stripe: 'Stripe',
  razorpay: 'Razorpay',
  sandbox: 'Sandbox',
};

const money =
  (member: 'invoiced' | 'paid' | 'due' | 'overdue' | 'failed' | 'credited') =>
  ({ currency, [member]: price }: Sums): ReactNode => {
    if (price === null) return <span className="dimmed">not known</span>;
    return Number(price) === 0 ? '–' : formatPrice({ price, currency });
  };

const COLUMNS: readonly Column<Sums>[] = [
  {
    header: 'Month',
    isTitle: true,
    cell: ({ month, currency, by }) => {
      const list = by === 'invoice' ? 'invoices' : 'payments';
      return (
        <Link to="/operator/billing" search={{ list, month, currency, state: undefined, customer: undefined }} className="text-link keep">
          {formatMonth(month)}, {currency}
        </Link>
      );
    },
  },
  { header: 'By', cell: ({ by }) => BY[by] },
  { header: 'Number', isNumber: true, cell: ({ invoices }) => formatCount(invoices) },
  { header: 'Charged', isNumber: true, cell: money('invoiced') },
  { header: 'Paid', isNumber: true, cell: money('paid') },
  { header: 'Due', isNumber: true, cell: money('due') },
  { header: 'Overdue', isNumber: true, cell: money('overdue') },
  { header: 'Failed', isNumber: true, cell: money('failed') },
  { header: 'Credited', isNumber: true, cell: money('credited') },
];

/** Charged, paid and owed sums by month, currency, and whoever charged them. */
export function BillingSumsTable({ months }: Pick<BillingSums, 'months'>): ReactNode {
  return (
    <DataTable
      caption="Sums by month"
      columns={COLUMNS}
      rows={months}
      rowKey={({ month, currency, by }) => `${month} ${currency} ${by}`}
      empty={
        <EmptyState title="Nothing charged yet">
          Plans are charged when they are paid, and invoices issued when a month’s statements are closed, on the 3rd.
        </EmptyState>
      }
    />
  );
}
