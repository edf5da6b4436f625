import { Badge, Box, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type ListedCustomer } from '../../../contract/operator-customers';
import { checkEmail } from '../../api/credentials';
import { customersQuery } from '../../api/operator-queries';
import { call } from '../../api/request';
import { usePaged } from '../../hooks/use-paged';
import { useSubmit } from '../../hooks/use-submit';
import { DataTable, type Column } from '../../components/data-table';
import { Dialog } from '../../components/dialog';
import { EmptyState } from '../../components/empty-state';
import { FormButtons } from '../../components/form-buttons';
import { Moment } from '../../components/moment';
import { PageTitle } from '../../components/page-title';
import { Pager } from '../../components/pager';
import { ProblemAlert } from '../../components/problem-alert';
import { PlanRequests } from './plan-requests';

const COLUMNS: readonly Column<ListedCustomer>[] = [
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
  { header: 'State', cell: ({ suspended }) => <CustomerBadge isSuspended={suspended !== undefined} /> },
  { header: 'Since', cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

/** State of a customer in a word. */
export function CustomerBadge({ isSuspended }: { readonly isSuspended: boolean }): ReactNode {
  return <Badge color={isSuspended ? 'red' : 'green'}>{isSuspended ? 'Suspended' : 'Active'}</Badge>;
}

/** Of a whole key, or a masked one, only the end is asked for: a secret has no business in an address. */
function searchOf(text: string): string | undefined {
  const wanted = text.trim();
  return (/^tg_|…/.test(wanted) ? wanted.slice(-4) : wanted) || undefined;
}

/** Every customer, by address. */
export function CustomersPage(): ReactNode {
  const { search } = useSearch({ from: '/console/operator/customers' });
  const navigate = useNavigate({ from: '/operator/customers' });
  const [isAdding, { open, close }] = useDisclosure(false);
  const paging = usePaged();
  const { data, error, refetch } = useQuery({ ...customersQuery(search, paging.after), placeholderData: keepPreviousData });
  const change = useDebouncedCallback((text: string) => void navigate({ search: { search: searchOf(text) }, replace: true }), 250);
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      Add a customer
    </Button>
  );
  return (
    <>
      <PageTitle title="Customers" actions={add}>
        By the beginning of an email address, a key’s ID, or the last four characters of a key.
      </PageTitle>
      {search === undefined && (
        <Box mb="md">
          <PlanRequests />
        </Box>
      )}
      <TextInput
        aria-label="Search customers by email, key ID or last four characters"
        placeholder="Email, key ID or last four characters"
        leftSection={<IconSearch size={16} aria-hidden />}
        defaultValue={search ?? ''}
        onChange={(event) => change(event.currentTarget.value)}
        maxLength={254}
        maw={420}
        mb="sm"
        spellCheck={false}
      />
      {error && !data ? (
        <ProblemAlert problem={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="Customers"
          columns={COLUMNS}
          rows={data?.customers}
          rowKey={({ id }) => id}
          expectedRows={8}
          empty={
            search === undefined ? (
              <EmptyState title="No customers yet">Customers appear here when they sign up, or when you add them.</EmptyState>
            ) : (
              <EmptyState title="No matching customer">The search looks at the beginning of an address.</EmptyState>
            )
          }
        />
      )}
      <Pager paging={paging} next={data?.next} />
      {isAdding && <AddCustomerDialog onClose={close} />}
    </>
  );
}

function AddCustomerDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: '' }, validate: { email: checkEmail } });
  const { submit, pending, problem } = useSubmit(async ({ email }: typeof form.values) => {
    const { id } = await call('POST /operator/customers', { body: { email: email.trim() } });
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
            description="Whoever signs up with this address later gets this account."
            data-autofocus
            key={form.key('email')}
            {...form.getInputProps('email')}
          />
          <ProblemAlert problem={problem} />
          <FormButtons action="Add customer" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
