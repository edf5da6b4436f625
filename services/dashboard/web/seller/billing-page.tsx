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
import { INVOICE_FACTS, STATE_NAMES } from '../customer/billing/invoice-words';
import { formatMonth } from '../customer/plans/format-month';
import { BillingSumsTable } from './billing-sums';
import { PAYMENT_STATES } from '../customer/billing/payment-words';
import { CustomersPaidPlans } from './paid-plan-list';
import { PaymentList } from './payment-list';
import { UnchargedUse } from './uncharged-use';

const FROM = '/console/operator/billing';

const COLUMNS: readonly Column<InvoiceSummaryView>[] = [
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
            columns={COLUMNS}
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
