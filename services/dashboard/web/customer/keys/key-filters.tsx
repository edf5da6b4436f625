import { NativeSelect, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type KeyFilter } from '../../parts/api/key-filter';
import { productsQuery, tagsQuery } from '../../parts/api/queries';
import { keyFilter } from '../../parts/api/key-filter';
import { useTypingPause } from '../../parts/hooks/use-typing-pause';
import classes from './key-filters.module.css';

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

/** What the address says about the list of keys, and how to say something else; that begins at the first page again. */
export function useKeyFilter(): { readonly filter: KeyFilter; readonly change: (part: KeyFilter) => void } {
  const filter = keyFilter({ ...useSearch({ from: '/shell/keys' }) });
  const navigate = useNavigate({ from: '/keys' });
  return { filter, change: (part) => void navigate({ search: keyFilter({ ...filter, ...part }), replace: true }) };
}

/** Search, filters and order of the list of keys. */
export function KeyFilters(): ReactNode {
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

/** With the tag of the address, which a key may have had until a moment ago. */
function tagChoices(tags: readonly string[], chosen: string | undefined): { value: string; label: string }[] {
  const all = chosen === undefined || tags.includes(chosen) ? tags : [chosen, ...tags];
  return all.map((tag) => ({ value: tag, label: tag }));
}
