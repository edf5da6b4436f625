import { NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type DenialCode } from '../../../contract/requests';
import { keysQuery, productsQuery } from '../../parts/api/queries';
import { addDays, dayOf, formatDay } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';
import { useTypingPause } from '../../parts/hooks/use-typing-pause';
import { type Choice, DURATIONS, METHODS, outcomeChoices, STATUSES, withChosen } from './request-choices';

/** Of requests whose key is known, in the order of the checks. */
const CODES = [
  'key_inactive',
  'key_expired',
  'product_not_authorised',
  'subscription_missing',
  'subscription_inactive',
  'caller_not_whitelisted',
  'sandbox_missing',
  'quota_daily_exceeded',
  'quota_monthly_exceeded',
  'quota_unavailable',
  'access_layer_unavailable',
] as const satisfies readonly DenialCode[];

/** As long as requests are kept. */
const DAYS_KEPT = 7;
/** Of the list of keys, which has no more on a page. */
const MAX_KEYS = 100;

function useKeyChoices(): readonly Choice[] {
  const { data } = useQuery(keysQuery({}, undefined, MAX_KEYS));
  const named = (data?.keys ?? []).map(({ id, name, maskedKey }) => ({ value: id, label: `${name ?? 'Unnamed key'} (${maskedKey})` }));
  return [{ value: '', label: 'All keys' }, ...named];
}

function useProductChoices(): readonly Choice[] {
  const { data } = useQuery(productsQuery);
  const subscribed = (data?.products ?? []).filter(({ subscription }) => subscription !== null);
  return [{ value: '', label: 'All products' }, ...subscribed.map(({ id, title }) => ({ value: id, label: title }))];
}

function useDayChoices(): readonly Choice[] {
  const { quotaTimeZone } = useSession();
  const today = dayOf(new Date(), quotaTimeZone);
  const days = Array.from({ length: DAYS_KEPT + 1 }, (_, back) => addDays(today, -back));
  return [{ value: '', label: 'Last 7 days' }, ...days.map((day) => ({ value: day, label: day === today ? 'Today' : formatDay(day) }))];
}

/** What narrows the log down; kept in the address. */
export function RequestFilters(): ReactNode {
  const filter = useSearch({ from: '/shell/requests' });
  const navigate = useNavigate({ from: '/requests' });
  const fields = [
    { name: 'day', label: 'Time', choices: useDayChoices() },
    { name: 'key', label: 'Key', choices: useKeyChoices() },
    { name: 'product', label: 'Product', choices: useProductChoices() },
    { name: 'outcome', label: 'Outcome', choices: outcomeChoices(CODES) },
    { name: 'status', label: 'Status', choices: STATUSES },
    { name: 'method', label: 'Method', choices: METHODS },
    { name: 'slower', label: 'Duration', choices: DURATIONS },
  ] as const;
  const change = (part: Partial<typeof filter>): void =>
    void navigate({ search: (now) => ({ ...now, ...part, after: undefined, page: undefined }), replace: true });
  const changePath = useTypingPause((path: string) => change({ path: path || undefined }));
  return (
    <div className="filters">
      {fields.map(({ name, label, choices }) => (
        <NativeSelect
          key={name}
          aria-label={label}
          data={withChosen(choices, filter[name])}
          value={filter[name] ?? ''}
          onChange={(event) => change({ [name]: event.currentTarget.value || undefined })}
        />
      ))}
      <TextInput
        aria-label="Path begins with"
        placeholder="/path"
        defaultValue={filter.path ?? ''}
        onChange={(event) => changePath(event.currentTarget.value.trim())}
        maxLength={200}
        spellCheck={false}
        classNames={{ input: 'mono' }}
      />
    </div>
  );
}
