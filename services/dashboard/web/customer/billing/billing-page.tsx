import { Button, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type BillingView, type InvoiceSummaryView } from '../../../contract/billing';
import { billingQuery, invoicesQuery } from '../../parts/api/queries';
import { addressOf } from '../../parts/api/request';
import { type Column, DataTable } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { Pager } from '../../parts/components/pager';
import { Panel } from '../../parts/components/panel';
import { formatPrice } from '../../parts/format/numbers';
import { usePaged } from '../../parts/hooks/use-paged';
import { formatMonth } from '../plans/format-month';
import { isPaidInAdvance, PaidPlans, takesPayments } from './paid-plans';
import { DetailsForm } from './details-form';
import { Payments } from './payments';
import { formatDate, INVOICE_FACTS } from './invoice-words';

const COLUMNS: readonly Column<InvoiceSummaryView>[] = [
  {
    header: 'Number',
    isTitle: true,
    cell: ({ id, number }) => (
      <Link to="/billing/$invoiceId" params={{ invoiceId: id }} className="text-link keep">
        {number}
      </Link>
    ),
  },
  ...INVOICE_FACTS,
];

const sumsOf = (sums: BillingView['owed']): string =>
  sums.length === 0 ? 'nothing' : sums.map(({ currency, amount }) => formatPrice({ price: amount, currency })).join(' and ');

const issuesNone = ({ provider, paid }: Pick<BillingView, 'provider' | 'paid'>): boolean => provider === 'none' && paid.length === 0;

function Charges({ next, owed, provider, paid }: BillingView): ReactNode {
  return (
    <Panel title="Charges">
      <Text size="sm">To be paid now: {sumsOf(owed)}.</Text>
      {next !== null && (
        <Text size="sm">
          {formatMonth(next.month)} so far: {sumsOf(next.totals)}
          {next.totals.length > 0 && ` before tax. The invoice is issued on ${formatDate(next.issuedOn)}`}.
        </Text>
      )}
      {issuesNone({ provider, paid }) && <Text size="sm">No invoices are issued here. Payment is between you and the seller.</Text>}
      <Text size="sm" mt="xs">
        <Link to="/plans" className="text-link in-text">
          Your plans
        </Link>{' '}
        decide what a month costs, and{' '}
        <Link to="/statements" className="text-link in-text">
          statements
        </Link>{' '}
        show how it adds up.
      </Text>
    </Panel>
  );
}

const FIRST = {
  each_payment: 'The first one is issued with your first payment.',
  monthly: 'The first one is issued after the first month with something to pay.',
} as const;

/** If the payment provider makes invoices, or nobody does, only earlier invoices are of interest. */
function Invoices({ of, isOver }: { readonly of: BillingView['invoices']; readonly isOver: boolean }): ReactNode {
  const paging = usePaged();
  const query = useQuery({ ...invoicesQuery(paging.after), placeholderData: keepPreviousData });
  if ((of === 'provider' || isOver) && !query.data?.invoices.length) return null;
  const link = (
    <Button
      component="a"
      href={addressOf('GET /invoices.csv')}
      download
      variant="default"
      size="xs"
      leftSection={<IconDownload size={14} aria-hidden />}
    >
      Export CSV
    </Button>
  );
  return (
    <Panel title="Invoices" aside={link}>
      <Loaded query={query} height={200}>
        {({ invoices, next }) => (
          <>
            <DataTable
              caption="Invoices"
              columns={COLUMNS}
              rows={invoices}
              rowKey={({ id }) => id}
              empty={<EmptyState title="No invoices yet">{FIRST[of === 'provider' ? 'monthly' : of]}</EmptyState>}
            />
            <Pager paging={paging} next={next} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

/** What the customer owes, its invoices, and the buyer's details on them. */
export function BillingPage(): ReactNode {
  const query = useQuery(billingQuery);
  return (
    <>
      <PageTitle title="Billing">What you owe, your invoices, and the details on them.</PageTitle>
      <Stack gap="md">
        <Loaded query={query} height={320}>
          {(billing) => (
            <>
              {isPaidInAdvance(billing) && <PaidPlans {...billing} />}
              {(!takesPayments(billing) || billing.owed.length > 0) && <Charges {...billing} />}
              <Payments />
              <Invoices of={billing.invoices} isOver={issuesNone(billing)} />
            </>
          )}
        </Loaded>
        <Loaded query={query} height={400}>
          {(billing) =>
            billing.invoices === 'provider' ? null : (
              <Panel title="Details for invoices">
                <Text size="sm" mb="sm">
                  These appear on your next invoices. An issued invoice never changes. Until you fill them in, invoices are made out to your
                  email address and taxed as if you were where the seller is.
                </Text>
                <DetailsForm details={billing.details} />
              </Panel>
            )
          }
        </Loaded>
      </Stack>
    </>
  );
}
