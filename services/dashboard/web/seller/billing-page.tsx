import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type BillingSums, type InvoiceState, type InvoiceSummaryView } from '../../contract/billing';
import { type PaymentState } from '../../contract/seller-payments';
import { allInvoicesQuery, billingSumsQuery, type InvoiceFilter } from '../parts/api/operator-queries';
import { addressOf } from '../parts/api/request';
import { type Column, DataTable } from '../parts/components/data-table';
import { EmptyState } from '../parts/components/empty-state';
import { ExportLink } from '../parts/components/export-link';
import { Loaded } from '../parts/components/loaded';
import { PageTitle } from '../parts/components/page-title';
import { Pager } from '../parts/components/pager';
import { Panel } from '../parts/components/panel';
import { usePaged } from '../parts/hooks/use-paged';
import { INVOICE_FACTS, STATE_NAMES, formatMonth } from '../customer/billing/invoice-words';
import { PAYMENT_STATES } from '../customer/billing/payment-words';
import { formatCount, formatPrice } from '../parts/format/numbers';
import { useSoldTitles } from '../parts/hooks/use-product-titles';
import { CustomersPaidPlans } from './paid-plan-list';
import { CUSTOMER, PaymentList } from './payment-list';

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

const SUMS: readonly Column<Sums>[] = [
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
function BillingSumsTable({ months }: Pick<BillingSums, 'months'>): ReactNode {
  return (
    <DataTable
      caption="Sums by month"
      columns={SUMS}
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

const FROM = '/console/operator/billing';

const INVOICES: readonly Column<InvoiceSummaryView>[] = [
  {
    header: 'Number',
    isTitle: true,
    cell: ({ id, number }) => (
      <Link to="/operator/billing/$invoiceId" params={{ invoiceId: id }} className="text-link keep">
        {number}
      </Link>
    ),
  },
  {
    header: 'Customer',
    cell: ({ customerId, buyer }) => (
      <Link to="/operator/customers/$customerId" params={{ customerId }} className="text-link breakable">
        {buyer}
      </Link>
    ),
  },
  ...INVOICE_FACTS,
];

function InvoiceList({ filter }: { readonly filter: InvoiceFilter }): ReactNode {
  const paging = usePaged();
  const query = useQuery({ ...allInvoicesQuery(filter, paging.after), placeholderData: keepPreviousData });
  return (
    <Loaded query={query} height={300}>
      {({ invoices, next }) => (
        <>
          <DataTable
            caption="Invoices"
            columns={INVOICES}
            rows={invoices}
            rowKey={({ id }) => id}
            empty={
              <EmptyState title="No invoices">{filter.state === undefined ? 'None are issued yet.' : 'None are in this state.'}</EmptyState>
            }
          />
          <Pager paging={paging} next={next} />
        </>
      )}
    </Loaded>
  );
}

interface Choice<State> {
  readonly value: State;
  readonly label: string;
}

const INVOICE_STATES: readonly Choice<InvoiceState>[] = (['open', 'overdue', 'paid', 'credited', 'issued'] as const).map((value) => ({
  value,
  label: STATE_NAMES[value],
}));
const STATES_OF_PAYMENTS: readonly Choice<PaymentState>[] = (['due', 'overdue', 'paid', 'failed', 'unknown'] as const).map((value) => ({
  value,
  label: PAYMENT_STATES[value].label,
}));

/** The address may hold any text. The server would refuse other values. */
function useFilter<State extends string>(states: readonly Choice<State>[]) {
  const { month, currency, state, customer } = useSearch({ from: FROM });
  const known = states.find(({ value }) => value === state)?.value;
  return {
    ...(/^20\d{2}-(0[1-9]|1[0-2])$/.test(month ?? '') && { month }),
    ...(/^[A-Z]{3}$/.test(currency ?? '') && { currency }),
    ...(known !== undefined && { state: known }),
    ...(/^[0-9a-f-]{36}$/.test(customer ?? '') && { customer }),
  };
}

/** Tollgate's own invoices, or the charges of a payment provider. */
function BillingList({ list, hasBoth }: { readonly list: 'invoices' | 'payments'; readonly hasBoth: boolean }): ReactNode {
  const navigate = useNavigate({ from: '/operator/billing' });
  const isPayments = list === 'payments';
  const invoices = useFilter(INVOICE_STATES);
  const payments = useFilter(STATES_OF_PAYMENTS);
  const filter = isPayments ? payments : invoices;
  const isNarrowed = filter.month !== undefined || filter.customer !== undefined;
  const name = isPayments ? 'Payments' : 'Invoices';
  const about = [filter.month && formatMonth(filter.month), filter.currency, filter.customer && 'one customer'].filter(Boolean).join(', ');
  const first = { after: undefined, page: undefined };
  const csv = isPayments
    ? addressOf('GET /operator/payments.csv', { query: payments })
    : addressOf('GET /operator/invoices.csv', { query: invoices });
  const panel = (
    <Panel title={isNarrowed ? `${name}: ${about}` : name}>
      <Group mb="sm" gap="sm" align="flex-end">
        {hasBoth && (
          <NativeSelect
            label="Show"
            data={[
              { value: 'payments', label: 'Payments' },
              { value: 'invoices', label: 'Invoices' },
            ]}
            value={list}
            onChange={({ currentTarget: { value } }) =>
              void navigate({ search: (now) => ({ ...now, ...first, list: value, state: undefined }) })
            }
          />
        )}
        <NativeSelect
          label="State"
          data={[{ value: '', label: 'All' }, ...(isPayments ? STATES_OF_PAYMENTS : INVOICE_STATES)]}
          value={filter.state ?? ''}
          onChange={({ currentTarget: { value } }) => void navigate({ search: (now) => ({ ...now, ...first, state: value || undefined }) })}
        />
        {isNarrowed && (
          <Button
            variant="default"
            onClick={() =>
              void navigate({ search: { list, month: undefined, currency: undefined, customer: undefined, state: filter.state } })
            }
          >
            Show all
          </Button>
        )}
        <ExportLink href={csv} />
      </Group>
      {isPayments ? <PaymentList filter={payments} /> : <InvoiceList filter={invoices} />}
    </Panel>
  );
  if (!isPayments || filter.customer === undefined) return panel;
  return (
    <>
      <CustomersPaidPlans customerId={filter.customer} />
      {panel}
    </>
  );
}

function Lists({ provider, invoices, months }: BillingSums): ReactNode {
  const { list } = useSearch({ from: FROM });
  const takesPayments = provider !== 'none' && provider !== 'invoice';
  const hasPayments = takesPayments || months.some(({ by }) => by !== 'invoice');
  const hasInvoices = !takesPayments || invoices === 'each_payment' || months.some(({ by }) => by === 'invoice');
  const isPayments = hasPayments && (list === 'payments' || (list !== 'invoices' && takesPayments) || !hasInvoices);
  return <BillingList list={isPayments ? 'payments' : 'invoices'} hasBoth={hasPayments && hasInvoices} />;
}

type Uncharged = BillingSums['uncharged'][number];

/** Use above limits that nobody charges because the payment provider refuses; nothing without any. */
function UnchargedUse({ rows }: { readonly rows: readonly Uncharged[] }): ReactNode {
  const titleOf = useSoldTitles();
  if (rows.length === 0) return null;
  const columns: readonly Column<Uncharged>[] = [
    CUSTOMER,
    { header: 'Product', cell: ({ product }) => titleOf(product) },
    { header: 'Month', cell: ({ month }) => formatMonth(month) },
    { header: 'Above the limits', isNumber: true, cell: ({ units }) => formatCount(units) },
    { header: 'Amount', isNumber: true, cell: ({ amount: price, currency }) => formatPrice({ price, currency }) },
    { header: 'The provider said', isWide: true, cell: ({ problem }) => <span className="breakable">{problem}</span> },
  ];
  return (
    <Panel title="Usage that is not charged">
      <Text size="sm" mb="sm">
        The payment provider refuses to charge this, for example because the subscription has ended. Bill it yourself. If the customer
        subscribes again, the provider charges it then.
      </Text>
      <DataTable
        caption="Usage that is not charged"
        columns={columns}
        rows={rows}
        rowKey={({ customerId, product, month, currency }) => `${customerId} ${product} ${month} ${currency}`}
      />
    </Panel>
  );
}

/** Charges to customers, payments, and what is due. */
export function SellerBillingPage(): ReactNode {
  const query = useQuery(billingSumsQuery);
  return (
    <>
      <PageTitle title="Billing">What customers were charged, have paid and still owe, by month and currency.</PageTitle>
      <Stack gap="md">
        <Loaded query={query} height={200}>
          {(sums) => (
            <>
              {sums.provider === 'none' && (
                <Text size="sm">
                  Invoices and payments are off. To turn them on, name a provider under <span className="mono">billing</span> in the
                  catalogue.
                </Text>
              )}
              <UnchargedUse rows={sums.uncharged} />
              {(sums.provider !== 'none' || sums.months.length > 0) && <BillingSumsTable months={sums.months} />}
              <Lists {...sums} />
            </>
          )}
        </Loaded>
      </Stack>
    </>
  );
}
