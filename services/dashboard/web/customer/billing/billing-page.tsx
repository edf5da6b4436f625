import { Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconDownload } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type BillingDetailsView, type BillingView, type InvoiceSummaryView } from '../../../contract/billing';
import { billingQuery, invoicesQuery, ownPaymentsQuery } from '../../parts/api/queries';
import { addressOf, call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { type Column, DataTable } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { FormButtons } from '../../parts/components/form-buttons';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { Pager } from '../../parts/components/pager';
import { Panel } from '../../parts/components/panel';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { formatPrice } from '../../parts/format/numbers';
import { usePaged } from '../../parts/hooks/use-paged';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { useSubmit } from '../../parts/hooks/use-submit';
import { isPaidInAdvance, PaidPlans, takesPayments } from './paid-plans';
import { formatDate, INVOICE_FACTS, formatMonth } from './invoice-words';
import { PAYMENT_FACTS, paymentKey } from './payment-words';

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

/** The payment provider's charges to the customer, and refunds; nothing before the first charge. */
function Payments(): ReactNode {
  const [after, setAfter] = useState<string>();
  const titleOf = useProductTitles();
  const { data } = useQuery({ ...ownPaymentsQuery(after), placeholderData: keepPreviousData });
  if (!data || (data.payments.length === 0 && after === undefined)) return null;
  const { payments, next } = data;
  return (
    <Panel title="Payments">
      <DataTable
        caption="Payments"
        columns={[{ header: 'Product', isTitle: true, cell: ({ product }) => titleOf(product) }, ...PAYMENT_FACTS]}
        rows={payments}
        rowKey={paymentKey}
      />
      <Group gap="xs" mt="xs">
        {after !== undefined && (
          <Button size="xs" variant="default" onClick={() => setAfter(undefined)}>
            Newest payments
          </Button>
        )}
        {next !== null && (
          <Button size="xs" variant="default" onClick={() => setAfter(next)}>
            Older payments
          </Button>
        )}
      </Group>
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

const orNull = (text: string): string | null => text.trim() || null;

/** The buyer on the next invoices. */
function DetailsForm({ details }: { readonly details: BillingDetailsView | null }): ReactNode {
  const client = useQueryClient();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: {
      name: details?.name ?? '',
      address: details?.address.join('\n') ?? '',
      country: details?.country ?? '',
      taxId: details?.taxId ?? '',
      state: details?.state ?? '',
      email: details?.email ?? '',
    },
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter the legal name.' : null),
      address: (value) => (value.trim() === '' ? 'Enter the postal address.' : null),
      country: (value) => (/^[a-z]{2}$/i.test(value.trim()) ? null : 'Enter two letters, for example IN.'),
    },
  });
  const { submit, pending, problem } = useSubmit(async ({ name, address, country, taxId, state, email }: typeof form.values) => {
    const lines = address.split('\n').map((line) => line.trim());
    const body = {
      name: name.trim(),
      address: lines.filter((line) => line !== ''),
      country: country.trim().toUpperCase(),
      taxId: orNull(taxId),
      state: orNull(state),
      email: orNull(email),
    };
    await call('PUT /billing/details', { body });
    await client.invalidateQueries({ queryKey: ['billing'] });
    toast('Your next invoices are made out to these details.');
  });
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack gap="sm" maw="32rem">
        <TextInput label="Legal name" maxLength={200} autoComplete="organization" key={form.key('name')} {...form.getInputProps('name')} />
        <Textarea
          label="Address"
          description="Up to six lines, without the country."
          autosize
          minRows={3}
          autoComplete="street-address"
          key={form.key('address')}
          {...form.getInputProps('address')}
        />
        <TextInput
          label="Country"
          description="Two letters: IN, DE, US."
          maxLength={2}
          autoComplete="country"
          key={form.key('country')}
          {...form.getInputProps('country')}
        />
        <TextInput
          label="Tax number"
          description="GSTIN or VAT number. Leave it empty if you have none."
          maxLength={40}
          key={form.key('taxId')}
          {...form.getInputProps('taxId')}
        />
        <TextInput
          label="GST state code"
          description="In India, without a GSTIN: two digits, for example 29 for Karnataka."
          maxLength={2}
          inputMode="numeric"
          key={form.key('state')}
          {...form.getInputProps('state')}
        />
        <TextInput
          label="Email for invoices"
          description="Empty: invoices are mailed to the owner."
          maxLength={254}
          type="email"
          autoComplete="email"
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <ProblemAlert problem={problem} />
        <FormButtons action="Save details" pending={pending} />
      </Stack>
    </form>
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
