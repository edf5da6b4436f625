import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { keyCountQuery, keysQuery } from '../../parts/api/queries';
import { formatCount } from '../../parts/format/numbers';
import { usePaged } from '../../parts/hooks/use-paged';
import { Guarded } from '../../parts/components/guarded';
import { EmptyState } from '../../parts/components/empty-state';
import { PageTitle } from '../../parts/components/page-title';
import { Pager } from '../../parts/components/pager';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useRead } from '../../parts/hooks/use-read';
import { CreateKeyDialog } from './create-key-dialog';
import { KeyFilters, useKeyFilter } from './key-filters';
import { KeyTable } from './key-table';
import { ChosenKeys } from './revoke-keys';
import { useChosenKeys } from './use-chosen-keys';

/** All keys of the customer, searched and paged by the server. */
export function KeysPage(): ReactNode {
  const { filter } = useKeyFilter();
  const [isCreating, { open, close }] = useDisclosure(false);
  const paging = usePaged();
  const { data, error, refetch } = useRead({ ...keysQuery(filter, paging.after), placeholderData: keepPreviousData });
  const { sort: _sort, ...narrowed } = filter;
  const isFiltered = Object.keys(narrowed).length > 0;
  const count = useQuery({ ...keyCountQuery(narrowed), enabled: data?.total === null });
  const total = data?.total ?? count.data?.total;
  const choice = useChosenKeys(data?.keys);
  const create = (
    <Guarded needs="keys">
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
        Create a key
      </Button>
    </Guarded>
  );
  const empty = isFiltered ? (
    <EmptyState title="No matching keys">Try another part of the name or of the masked key, or fewer filters.</EmptyState>
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
      <ChosenKeys choice={choice} />
      {error ? (
        <ProblemAlert problem={error} onRetry={() => void refetch()} />
      ) : (
        <KeyTable keys={data?.keys} choice={choice} empty={empty} />
      )}
      <Pager paging={paging} next={data?.next} summary={typeof total === 'number' ? countText(total, isFiltered) : ' '} />
      {isCreating && <CreateKeyDialog onClose={close} />}
      <Text className="visually-hidden" aria-live="polite">
        {data ? `${data.keys.length} keys on this page` : ''}
      </Text>
    </>
  );
}

function countText(total: number, isFiltered: boolean): string {
  return `${formatCount(total)} ${total === 1 ? 'key' : 'keys'}${isFiltered ? ' found' : ''}`;
}
