import { Button, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { keysQuery } from '../../api/queries';
import { formatCount } from '../../format/numbers';
import { usePaged } from '../../hooks/use-paged';
import { Guarded } from '../../components/guarded';
import { EmptyState } from '../../components/empty-state';
import { PageTitle } from '../../components/page-title';
import { Pager } from '../../components/pager';
import { ProblemAlert } from '../../components/problem-alert';
import { CreateKeyDialog } from './create-key-dialog';
import { KeyTable } from './key-table';

const STATES = [
  { value: '', label: 'All states' },
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Inactive' },
  { value: 'expired', label: 'Expired' },
  { value: 'revoked', label: 'Revoked' },
];

/** All keys of the customer, searched and paged by the server. */
export function KeysPage(): ReactNode {
  const { search, state } = useSearch({ from: '/shell/keys' });
  const filter = { search, state };
  const [isCreating, { open, close }] = useDisclosure(false);
  const paging = usePaged();
  const { data, error, refetch } = useQuery({ ...keysQuery(filter, paging.after), placeholderData: keepPreviousData });
  const isFiltered = filter.search !== undefined || filter.state !== undefined;
  const create = (
    <Guarded needs="keys">
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
        Create a key
      </Button>
    </Guarded>
  );
  const empty = isFiltered ? (
    <EmptyState title="No matching keys">Try another part of the name or of the masked key, or another state.</EmptyState>
  ) : (
    <EmptyState title="No keys yet" action={create}>
      A test key is free and returns sample data: the quickest way to a first call.
    </EmptyState>
  );
  return (
    <>
      <PageTitle title="Keys" actions={create}>
        A key gives your programs access to the products you choose.
      </PageTitle>
      <KeyFilters />
      {error && !data ? <ProblemAlert problem={error} onRetry={() => void refetch()} /> : <KeyTable keys={data?.keys} empty={empty} />}
      <Pager paging={paging} next={data?.next} summary={data ? countText(data.total, isFiltered) : ' '} />
      {isCreating && <CreateKeyDialog onClose={close} />}
      <Text className="visually-hidden" aria-live="polite">
        {data ? `${data.keys.length} keys on this page` : ''}
      </Text>
    </>
  );
}

function KeyFilters(): ReactNode {
  const { search: words, state } = useSearch({ from: '/shell/keys' });
  const filter = { search: words, state };
  const navigate = useNavigate({ from: '/keys' });
  const change = (part: Partial<typeof filter>): void => void navigate({ search: { ...filter, ...part }, replace: true });
  const search = useDebouncedCallback((text: string) => change({ search: text.trim() || undefined }), 250);
  return (
    <Group gap="xs" mb="sm" align="flex-end">
      <TextInput
        aria-label="Search keys by name or masked key"
        placeholder="Name or part of the key"
        leftSection={<IconSearch size={16} aria-hidden />}
        defaultValue={filter.search ?? ''}
        onChange={(event) => search(event.currentTarget.value)}
        maxLength={100}
        flex="1 1 12rem"
        maw={360}
      />
      <NativeSelect
        aria-label="State"
        data={STATES}
        value={filter.state ?? ''}
        onChange={(event) => change({ state: event.currentTarget.value || undefined })}
      />
    </Group>
  );
}

function countText(total: number, isFiltered: boolean): string {
  return `${formatCount(total)} ${total === 1 ? 'key' : 'keys'}${isFiltered ? ' found' : ''}`;
}
