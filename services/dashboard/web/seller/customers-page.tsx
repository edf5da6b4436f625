import { Badge, Box, Button, Checkbox, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { planName } from '../../reference/plan-name';
import { type CustomerLine } from '../../contract/operator-customers';
import { checkEmail } from '../parts/api/credentials';
import { catalogueQuery, type CustomersFilter, customersQuery } from '../parts/api/operator-queries';
import { addressOf, call } from '../parts/api/request';
import { formatCount, formatPrice } from '../parts/format/numbers';
import { formatDay } from '../parts/format/time';
import { usePaged } from '../parts/hooks/use-paged';
import { useSubmit } from '../parts/hooks/use-submit';
import { type Column, ReadTable } from '../parts/components/data-table';
import { Dialog } from '../parts/components/dialog';
import { EmptyState } from '../parts/components/empty-state';
import { FormButtons } from '../parts/components/form-buttons';
import { Moment } from '../parts/components/moment';
import { PageTitle } from '../parts/components/page-title';
import { Pager } from '../parts/components/pager';
import { ProblemAlert } from '../parts/components/problem-alert';
import { CustomerViews } from './customer-views';
import { PlanRequests } from './plan-requests';
import { ExportLink } from '../parts/components/export-link';
import { useSoldTitles } from '../parts/hooks/use-product-titles';
import { useRead } from '../parts/hooks/use-read';
import { useTypingPause } from '../parts/hooks/use-typing-pause';

const dash = <span className="dimmed">–</span>;

const COLUMNS: readonly Column<CustomerLine>[] = [
  {
    header: 'Customer',
    isTitle: true,
    cell: ({ id, email, name }) => (
      <>
        <Link to="/operator/customers/$customerId" params={{ customerId: id }} className="text-link breakable">
          {email}
        </Link>
        {name !== null && (
          <Text size="xs" c="dimmed">
            <bdi className="breakable">{name}</bdi>
          </Text>
        )}
      </>
    ),
  },
  { header: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  {
    header: 'Plans',
    isWide: true,
    cell: ({ plans }) => (plans.length === 0 ? dash : plans.map((each) => <PlanName key={each.product} of={each} />)),
  },
  { header: 'Requests, 30 days', isNumber: true, cell: ({ used, growth }) => <Use used={used} growth={growth} /> },
  { header: 'Run rate', isNumber: true, cell: ({ rates }) => (rates.length === 0 ? dash : rates.map(formatPrice).join(' + ')) },
  { header: 'Last seen', cell: ({ lastSeenOn }) => (lastSeenOn === null ? dash : <span className="keep">{formatDay(lastSeenOn)}</span>) },
  { header: 'Since', cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

function PlanName({ of: { product, plan } }: { readonly of: CustomerLine['plans'][number] }): ReactNode {
  return (
    <Text component="span" display="block" size="sm" className="keep">
      {useSoldTitles()(product)}: {planName(plan)}
    </Text>
  );
}

function Use({ used, growth }: Pick<CustomerLine, 'used' | 'growth'>): ReactNode {
  return (
    <>
      {formatCount(used)}
      {growth !== 0 && (
        <Text component="span" display="block" size="xs" c="dimmed">
          {growth > 0 ? '+' : ''}
          {formatCount(growth)}
        </Text>
      )}
    </>
  );
}

const STATES = {
  active: { color: 'green', text: 'Active' },
  idle: { color: 'gray', text: 'No subscription' },
  leaving: { color: 'orange', text: 'Leaving' },
  suspended: { color: 'red', text: 'Suspended' },
} as const;

function StateBadge({ state }: Pick<CustomerLine, 'state'>): ReactNode {
  return <Badge color={STATES[state].color}>{STATES[state].text}</Badge>;
}

/** Only the end of a whole or masked key is searched for: a secret has no business in an address. */
function searchOf(text: string): string | undefined {
  const wanted = text.trim();
  return (/^tg_|…/.test(wanted) ? wanted.slice(-4) : wanted) || undefined;
}

/** The orders offered, as `sort` and `direction`. */
const ORDERS = [
  { value: 'email up', label: 'Address' },
  { value: 'used down', label: 'Most requests' },
  { value: 'growth down', label: 'Grown most' },
  { value: 'growth up', label: 'Shrunk most' },
  { value: 'rate down', label: 'Highest run rate' },
  { value: 'seen down', label: 'Seen last' },
  { value: 'seen up', label: 'Not seen longest' },
  { value: 'created down', label: 'Newest' },
] as const;

/** The address may hold any text. The server would refuse other values. */
function useFilter(): CustomersFilter & { readonly order: string } {
  const { search, state, product, sort, direction } = useAsked();
  const { value: order } = ORDERS.find(({ value }) => value === `${sort ?? 'email'} ${direction ?? 'up'}`) ?? ORDERS[0];
  const [by, towards] = order.split(' ') as [CustomersFilter['sort'], CustomersFilter['direction']];
  const isState = state !== undefined && state in STATES;
  return { search, sort: by, direction: towards, order, ...(isState ? { state: state as CustomerLine['state'] } : { product }) };
}

/** The members of the address, without the page of the list. */
function useAsked(): Readonly<Record<string, string | undefined>> {
  const { search, state, product, sort, direction } = useSearch({ from: '/console/operator/customers' });
  return { search, state, product, sort, direction };
}

function Filters({ filter }: { readonly filter: ReturnType<typeof useFilter> }): ReactNode {
  const navigate = useNavigate({ from: '/operator/customers' });
  const { data } = useQuery(catalogueQuery);
  const change = (part: Partial<Record<keyof CustomersFilter, string | undefined>>): void =>
    void navigate({ search: (now) => ({ ...now, ...part, after: undefined, page: undefined }), replace: true });
  const changeText = useTypingPause((text: string) => change({ search: searchOf(text) }));
  const { order, ...asked } = filter;
  return (
    <Group gap="xs" align="flex-end" mb="sm">
      <TextInput
        label="Search"
        placeholder="Email, key ID or last four characters"
        leftSection={<IconSearch size={16} aria-hidden />}
        defaultValue={filter.search ?? ''}
        onChange={(event) => changeText(event.currentTarget.value)}
        maxLength={254}
        miw={300}
        spellCheck={false}
      />
      <NativeSelect
        label="Show"
        data={[
          { value: '', label: 'Everybody' },
          { group: 'State', items: Object.entries(STATES).map(([value, { text }]) => ({ value: `state ${value}`, label: text })) },
          { group: 'Subscribed to', items: (data?.products ?? []).map(({ id, title }) => ({ value: `product ${id}`, label: title })) },
        ]}
        value={filter.state !== undefined ? `state ${filter.state}` : filter.product !== undefined ? `product ${filter.product}` : ''}
        onChange={({ currentTarget: { value } }) => {
          const [kind, name] = value.split(' ');
          change({ state: kind === 'state' ? name : undefined, product: kind === 'product' ? name : undefined });
        }}
      />
      <NativeSelect
        label="Order"
        data={[...ORDERS]}
        value={order}
        disabled={filter.search !== undefined}
        onChange={({ currentTarget: { value } }) => {
          const [sort, direction] = value.split(' ');
          change({ sort, direction });
        }}
      />
      <ExportLink href={addressOf('GET /operator/customers.csv', { query: asked })} />
    </Group>
  );
}

/** Every customer, in any order. */
export function CustomersPage(): ReactNode {
  const filter = useFilter();
  const address = useAsked();
  const { order: _order, ...asked } = filter;
  const [isAdding, { open, close }] = useDisclosure(false);
  const paging = usePaged();
  const { data, ...read } = useRead({ ...customersQuery(asked, paging.after), placeholderData: keepPreviousData });
  const isNarrowed = filter.search !== undefined || filter.state !== undefined || filter.product !== undefined;
  return (
    <>
      <PageTitle
        title="Customers"
        actions={
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            Add a customer
          </Button>
        }
      >
        Only admitted requests are counted, within a few minutes. The run rate is the month’s price of all active subscriptions.
      </PageTitle>
      {!isNarrowed && (
        <Box mb="md">
          <PlanRequests />
        </Box>
      )}
      <CustomerViews search={address} />
      <Filters filter={filter} />
      <ReadTable
        read={read}
        caption="Customers"
        columns={COLUMNS}
        rows={data?.customers}
        rowKey={({ id }) => id}
        expectedRows={8}
        empty={
          isNarrowed ? (
            <EmptyState title="No matching customer">The search looks at the beginning of an address.</EmptyState>
          ) : (
            <EmptyState title="No customers yet">Customers appear here when they sign up, or when you add them.</EmptyState>
          )
        }
      />
      <Pager paging={paging} next={data?.next} />
      {isAdding && <AddCustomerDialog onClose={close} />}
    </>
  );
}

function AddCustomerDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: '', invite: true }, validate: { email: checkEmail } });
  const { submit, pending, problem } = useSubmit(async ({ email, invite }: typeof form.values) => {
    const { id } = await call('POST /operator/customers', { body: { email: email.trim(), invite } });
    await client.invalidateQueries({ queryKey: ['operator', 'customers'] });
    await navigate({ to: '/operator/customers/$customerId', params: { customerId: id } });
  });
  return (
    <Dialog title="Add a customer" onClose={onClose} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <TextInput
            label="Email"
            type="email"
            description="A person who signs up with this address later gets this account."
            data-autofocus
            key={form.key('email')}
            {...form.getInputProps('email')}
          />
          <Checkbox
            label="Invite by email"
            description="The mail says how to sign up."
            key={form.key('invite')}
            {...form.getInputProps('invite', { type: 'checkbox' })}
          />
          <ProblemAlert problem={problem} />
          <FormButtons action="Add customer" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
