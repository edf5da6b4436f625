import { Badge } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type PaymentState, type PaymentView } from '../../../contract/seller-payments';
import { catalogueQuery, type PaymentFilter, paymentsQuery } from '../../api/operator-queries';
import { type Column, DataTable } from '../../components/data-table';
import { EmptyState } from '../../components/empty-state';
import { Loaded } from '../../components/loaded';
import { Moment } from '../../components/moment';
import { Pager } from '../../components/pager';
import { Panel } from '../../components/panel';
import { formatPrice } from '../../format/numbers';
import { usePaged } from '../../hooks/use-paged';

export const PAYMENT_STATES: Readonly<Record<PaymentState, { readonly label: string; readonly color: string }>> = {
  paid: { label: 'Paid', color: 'green' },
  due: { label: 'Due', color: 'blue' },
  overdue: { label: 'Overdue', color: 'red' },
  failed: { label: 'Failed', color: 'gray' },
  unknown: { label: 'Not known', color: 'yellow' },
};

const FACTS: readonly Column<PaymentView>[] = [
  { header: 'Charged', cell: ({ chargedAt }) => <Moment at={chargedAt} /> },
  {
    header: 'State',
    cell: ({ state }) => <Badge color={PAYMENT_STATES[state].color}>{PAYMENT_STATES[state].label}</Badge>,
  },
  { header: 'Paid', cell: ({ paidAt }) => (paidAt === null ? '–' : <Moment at={paidAt} />) },
  { header: 'Amount', isNumber: true, cell: ({ amount: price, currency }) => formatPrice({ price, currency }) },
  {
    header: 'Refunded',
    isNumber: true,
    cell: ({ refunded: price, currency }) => (Number(price) === 0 ? '–' : formatPrice({ price, currency })),
  },
];

const REFERENCE: Column<PaymentView> = {
  header: 'Reference',
  isWide: true,
  cell: ({ url, reference }) =>
    url === null ? (
      <span className="mono breakable">{reference}</span>
    ) : (
      <a href={url} target="_blank" rel="noopener noreferrer" className="text-link mono breakable">
        {reference}
      </a>
    ),
};

const CUSTOMER: Column<PaymentView> = {
  header: 'Customer',
  isTitle: true,
  cell: ({ customerId, customer }) => (
    <Link to="/operator/customers/$customerId" params={{ customerId }} className="text-link breakable">
      {customer}
    </Link>
  ),
};

function useTitles(): (product: string) => string {
  const { data } = useQuery(catalogueQuery);
  return (product) => data?.products.find(({ id }) => id === product)?.title ?? product;
}

/** What customers were charged by the payment provider, a page at a time. */
export function PaymentList({ filter }: { readonly filter: PaymentFilter }): ReactNode {
  const paging = usePaged();
  const titleOf = useTitles();
  const query = useQuery({ ...paymentsQuery(filter, paging.after), placeholderData: keepPreviousData });
  return (
    <Loaded query={query} height={300}>
      {({ payments, next }) => (
        <>
          <DataTable
            caption="Payments"
            columns={[CUSTOMER, { header: 'Product', cell: ({ product }) => titleOf(product) }, ...FACTS, REFERENCE]}
            rows={payments}
            rowKey={({ provider, reference }) => `${provider} ${reference}`}
            empty={<EmptyState title="No payments">There are none of this kind.</EmptyState>}
          />
          <Pager paging={paging} next={next} />
        </>
      )}
    </Loaded>
  );
}

const SHOWN = 10;

/** The last charges of one customer; nothing where there were none. */
export function CustomerPayments({ customerId }: { readonly customerId: string }): ReactNode {
  const titleOf = useTitles();
  const { data } = useQuery(paymentsQuery({ customer: customerId }, undefined, SHOWN));
  if (!data || data.payments.length === 0) return null;
  const all = (
    <Link
      to="/operator/billing"
      search={{ list: 'payments', customer: customerId, month: undefined, currency: undefined, state: undefined }}
      className="text-link"
    >
      All payments
    </Link>
  );
  return (
    <Panel title="Payments" aside={all}>
      <DataTable
        caption="Payments"
        columns={[{ header: 'Product', isTitle: true, cell: ({ product }) => titleOf(product) }, ...FACTS, REFERENCE]}
        rows={data.payments}
        rowKey={({ provider, reference }) => `${provider} ${reference}`}
      />
    </Panel>
  );
}
