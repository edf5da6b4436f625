import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type BillingSums, type InvoiceState, type InvoiceSummaryView } from '../../../contract/billing';
import { allInvoicesQuery, billingSumsQuery, type InvoiceFilter } from '../../api/operator-queries';
import { addressOf } from '../../api/request';
import { type Column, DataTable } from '../../components/data-table';
import { EmptyState } from '../../components/empty-state';
import { Loaded } from '../../components/loaded';
import { PageTitle } from '../../components/page-title';
import { Pager } from '../../components/pager';
import { Panel } from '../../components/panel';
import { formatCount, formatPrice } from '../../format/numbers';
import { usePaged } from '../../hooks/use-paged';
import { INVOICE_FACTS, STATE_NAMES } from '../billing/invoice-words';
import { formatMonth } from '../plans/format-month';
import { ExportLink } from '../../components/export-link';

type Sums = BillingSums['months'][number];
const FROM = '/console/operator/billing';

const money =
  (member: 'invoiced' | 'paid' | 'due' | 'overdue' | 'credited') =>
  ({ currency, [member]: price }: Sums): string =>
    Number(price) === 0 ? '–' : formatPrice({ price, currency });

const SUMS: readonly Column<Sums>[] = [
  {
    header: 'Month',
    isTitle: true,
    cell: ({ month, currency }) => (
      <Link to="/operator/billing" search={{ month, currency, state: undefined, customer: undefined }} className="text-link keep">
        {formatMonth(month)}, {currency}
      </Link>
    ),
  },
  { header: 'Invoices', isNumber: true, cell: ({ invoices }) => formatCount(invoices) },
  { header: 'Invoiced', isNumber: true, cell: money('invoiced') },
  { header: 'Paid', isNumber: true, cell: money('paid') },
  { header: 'Due', isNumber: true, cell: money('due') },
  { header: 'Overdue', isNumber: true, cell: money('overdue') },
  { header: 'Credited', isNumber: true, cell: money('credited') },
];

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

const STATES: readonly { readonly value: InvoiceState | ''; readonly label: string }[] = [
  { value: '', label: 'All' },
  ...(['open', 'overdue', 'paid', 'credited', 'issued'] as const).map((value) => ({ value, label: STATE_NAMES[value] })),
];

/** What the address says may be anything; the server would refuse the rest. */
function useFilter(): InvoiceFilter {
  const { month, currency, state, customer } = useSearch({ from: FROM });
  return {
    ...(/^20\d{2}-(0[1-9]|1[0-2])$/.test(month ?? '') && { month }),
    ...(/^[A-Z]{3}$/.test(currency ?? '') && { currency }),
    ...(STATES.some(({ value }) => value === state) && { state: state as InvoiceState }),
    ...(/^[0-9a-f-]{36}$/.test(customer ?? '') && { customer }),
  };
}

function InvoiceList(): ReactNode {
  const filter = useFilter();
  const navigate = useNavigate({ from: '/operator/billing' });
  const paging = usePaged();
  const query = useQuery({ ...allInvoicesQuery(filter, paging.after), placeholderData: keepPreviousData });
  const isNarrowed = filter.month !== undefined || filter.customer !== undefined;
  const about = [filter.month && formatMonth(filter.month), filter.currency, filter.customer && 'one customer'].filter(Boolean).join(', ');
  return (
    <Panel title={isNarrowed ? `Invoices: ${about}` : 'Invoices'}>
      <Group mb="sm" gap="sm" align="flex-end">
        <NativeSelect
          label="State"
          data={[...STATES]}
          value={filter.state ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ search: (now) => ({ ...now, state: value || undefined, after: undefined, page: undefined }) })
          }
        />
        {isNarrowed && (
          <Button
            variant="default"
            onClick={() => void navigate({ search: { month: undefined, currency: undefined, customer: undefined, state: filter.state } })}
          >
            Show all
          </Button>
        )}
        <ExportLink href={addressOf('GET /operator/invoices.csv', { query: filter })} />
      </Group>
      <Loaded query={query} height={300}>
        {({ invoices, next }) => (
          <>
            <DataTable
              caption="Invoices"
              columns={COLUMNS}
              rows={invoices}
              rowKey={({ id }) => id}
              empty={<EmptyState title="No invoices">There are none of this kind.</EmptyState>}
            />
            <Pager paging={paging} next={next} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

/** What was invoiced, what of it was paid, and what is due. */
export function SellerBillingPage(): ReactNode {
  const query = useQuery(billingSumsQuery);
  return (
    <>
      <PageTitle title="Billing">What customers were invoiced, have paid and owe, by month and currency.</PageTitle>
      <Stack gap="md">
        <Loaded query={query} height={200}>
          {({ provider, months }) => (
            <>
              {provider === 'none' && (
                <Text size="sm">
                  No invoices are issued here: the catalogue has no <span className="mono">billing</span> with{' '}
                  <span className="mono">provider: invoice</span>.
                </Text>
              )}
              <DataTable
                caption="Sums by month"
                columns={SUMS}
                rows={months}
                rowKey={({ month, currency }) => `${month} ${currency}`}
                empty={
                  <EmptyState title="Nothing invoiced yet">
                    Invoices are issued when a month’s statements are closed, on the 3rd.
                  </EmptyState>
                }
              />
            </>
          )}
        </Loaded>
        <InvoiceList />
      </Stack>
    </>
  );
}
