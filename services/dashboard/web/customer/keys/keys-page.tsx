import { Button, Text, NativeSelect, TextInput, Checkbox } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconSearch, IconBan } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { keyCountQuery, keysQuery, productsQuery, tagsQuery } from '../../parts/api/queries';
import { formatCount } from '../../parts/format/numbers';
import { usePaged } from '../../parts/hooks/use-paged';
import { Guarded } from '../../parts/components/guarded';
import { EmptyState } from '../../parts/components/empty-state';
import { PageTitle } from '../../parts/components/page-title';
import { Pager } from '../../parts/components/pager';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useRead } from '../../parts/hooks/use-read';
import { CreateKeyDialog } from './create-key-dialog';
import { KeyTable, useChosenKeys, type KeyChoice } from './key-table';
import { type KeyFilter, keyFilter } from '../../parts/api/key-filter';
import { useTypingPause } from '../../parts/hooks/use-typing-pause';
import classes from './key-filters.module.css';
import type { ListedKey } from '../../../contract/keys';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { Moment } from '../../parts/components/moment';

/** All keys of the customer. The server searches and pages them. */
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
      A test key costs nothing: the quickest way to a first call.
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
        {data ? `${keysText(data.keys.length)} on this page` : ''}
      </Text>
    </>
  );
}

function countText(total: number, isFiltered: boolean): string {
  return `${formatCount(total)} ${total === 1 ? 'key' : 'keys'}${isFiltered ? ' found' : ''}`;
}

const STATES = [
  { value: '', label: 'All states' },
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Inactive' },
  { value: 'expired', label: 'Expired' },
  { value: 'revoked', label: 'Revoked' },
];
const MODES = [
  { value: '', label: 'Live and test' },
  { value: 'live', label: 'Live' },
  { value: 'test', label: 'Test' },
];
const ORDERS = [
  { value: '', label: 'Newest first' },
  { value: 'name', label: 'By name' },
  { value: 'expires', label: 'By expiry' },
];

/** The filter in the address, and a function to change it, which returns to the first page. */
function useKeyFilter(): { readonly filter: KeyFilter; readonly change: (part: KeyFilter) => void } {
  const filter = keyFilter({ ...useSearch({ from: '/shell/keys' }) });
  const navigate = useNavigate({ from: '/keys' });
  return { filter, change: (part) => void navigate({ search: keyFilter({ ...filter, ...part }), replace: true }) };
}

/** Search, filters and order of the list of keys. */
function KeyFilters(): ReactNode {
  const { filter, change } = useKeyFilter();
  const products = useQuery(productsQuery).data?.products ?? [];
  const tags = useQuery(tagsQuery).data?.tags ?? [];
  const search = useTypingPause((text: string) => change({ search: text.trim() }));
  const choice = (label: string, name: keyof KeyFilter, data: { value: string; label: string }[]): ReactNode => (
    <NativeSelect
      aria-label={label}
      data={data}
      value={filter[name] ?? ''}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  );
  return (
    <div className={classes['filters']}>
      <TextInput
        className={classes['search']}
        aria-label="Search keys by name or masked key"
        placeholder="Name or part of the key"
        leftSection={<IconSearch size={16} aria-hidden />}
        defaultValue={filter.search ?? ''}
        onChange={(event) => search(event.currentTarget.value)}
        maxLength={100}
      />
      {choice('State', 'state', STATES)}
      {choice('Mode', 'mode', MODES)}
      {choice('Product', 'product', [
        { value: '', label: 'All products' },
        ...products.map(({ id, title }) => ({ value: id, label: title })),
      ])}
      {(tags.length > 0 || filter.tag) && choice('Tag', 'tag', [{ value: '', label: 'All tags' }, ...tagChoices(tags, filter.tag)])}
      {choice('Order', 'sort', ORDERS)}
    </div>
  );
}

/** The tags of keys, and the tag in the address, which no key may have any more. */
function tagChoices(tags: readonly string[], chosen: string | undefined): { value: string; label: string }[] {
  const all = chosen === undefined || tags.includes(chosen) ? tags : [chosen, ...tags];
  return all.map((tag) => ({ value: tag, label: tag }));
}

const keysText = (count: number): string => `${formatCount(count)} ${count === 1 ? 'key' : 'keys'}`;

/** Above the list: chooses all keys of the page, and revokes the chosen keys. */
function ChosenKeys({ choice }: { readonly choice: KeyChoice }): ReactNode {
  const { chosen, possible, chooseAll } = choice;
  const [isAsking, { open, close }] = useDisclosure(false);
  if (possible.length === 0) return null;
  return (
    <div className={classes['chosen']}>
      <Checkbox
        label={chosen.length === 0 ? 'Select all on this page' : `${keysText(chosen.length)} selected`}
        checked={chosen.length === possible.length}
        indeterminate={chosen.length > 0 && chosen.length < possible.length}
        onChange={(event) => chooseAll(event.currentTarget.checked)}
      />
      {chosen.length > 0 && (
        <Guarded needs="keys">
          <Button size="xs" variant="light" color="red" leftSection={<IconBan size={16} aria-hidden />} onClick={open}>
            Revoke {keysText(chosen.length)}
          </Button>
        </Guarded>
      )}
      {isAsking && <RevokeDialog keys={chosen} onDone={() => chooseAll(false)} onClose={close} />}
    </div>
  );
}

interface RevokeDialogProps {
  readonly keys: readonly ListedKey[];
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Names every key that would end. Sent again after a lost response, it revokes no key twice. */
function RevokeDialog({ keys, onDone, onClose }: RevokeDialogProps): ReactNode {
  const client = useQueryClient();
  async function revoke(): Promise<void> {
    try {
      const { revoked } = await call('POST /keys/revoke', { body: { ids: keys.map(({ id }) => id) } });
      toast(`${keysText(revoked.length)} revoked.`);
      onDone();
    } finally {
      await client.invalidateQueries({ queryKey: ['keys'] });
    }
  }
  const action = `Revoke ${keysText(keys.length)} permanently`;
  return (
    <ConfirmDialog title={`${action}?`} action={action} isDangerous onConfirm={revoke} onClose={onClose}>
      <Text size="sm">Requests with {keys.length === 1 ? 'this key' : 'these keys'} are refused from now on. This cannot be undone.</Text>
      <ul className={classes['revoking']} tabIndex={0} aria-label="Keys to be revoked">
        {keys.map((key) => (
          <li key={key.id}>
            <span>
              <bdi>{key.name ?? 'Unnamed key'}</bdi> <span className="mono dimmed keep">{key.maskedKey}</span>
            </span>
            <span className="dimmed">
              last used: <Moment at={key.lastUsedAt} />
            </span>
          </li>
        ))}
      </ul>
    </ConfirmDialog>
  );
}
