import { useSearch, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { addressOf } from '../../parts/api/request';
import { type RequestLogFilter, keysQuery, productsQuery } from '../../parts/api/queries';
import { PageTitle } from '../../parts/components/page-title';
import { addDays, endOfDay, dayOf, formatDay } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';
import { RequestLog } from './request-log';
import { ExportLink } from '../../parts/components/export-link';
import type { DenialCode } from '../../../contract/requests';
import { useTypingPause } from '../../parts/hooks/use-typing-pause';
import { type RequestChoice, DURATIONS, METHODS, outcomeChoices, STATUSES, withChosen } from './request-choices';

const DAY = /^\d{4}-\d\d-\d\d$/;

/** A day in the quota time zone, from its first time to the first that is not in it. */
function periodOf(day: string | undefined, timeZone: string): Pick<RequestLogFilter, 'from' | 'to'> {
  if (day === undefined || !DAY.test(day) || Number.isNaN(Date.parse(day))) return {};
  return { from: endOfDay(addDays(day, -1), timeZone), to: endOfDay(day, timeZone) };
}

/** Every request of a week with the customer's keys, whatever its outcome. */
export function RequestsPage(): ReactNode {
  const { key, product, outcome, status, method, path, slower, day } = useSearch({ from: '/shell/requests' });
  const { quotaTimeZone } = useSession();
  const filter = {
    ...{ key, product, outcome, status, method, slowerThanMs: slower },
    // A text that does not begin as a path would be refused while it is typed.
    path: path === undefined || path.startsWith('/') ? path : `/${path}`,
    ...periodOf(day, quotaTimeZone),
  };
  const save = <ExportLink href={addressOf('GET /requests.csv', { query: filter })} />;
  return (
    <>
      <PageTitle title="Requests" actions={save}>
        Requests with your keys in the last 7 days, newest first, with the response to each. Paths are shown without their query. Not known:
        the gateway does not report its responses.
      </PageTitle>
      <RequestFilters />
      <RequestLog filter={filter} />
    </>
  );
}

/** Codes of refusals with a known key, in the order of the checks. */
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
  'rate_exceeded',
  'quota_unavailable',
  'access_layer_unavailable',
] as const satisfies readonly DenialCode[];

/** Days for which requests are kept. */
const DAYS_KEPT = 7;
/** Keys of the select. A page of the list of keys has no more. */
const MAX_KEYS = 100;

function useKeyChoices(): readonly RequestChoice[] {
  const { data } = useQuery(keysQuery({}, undefined, MAX_KEYS));
  const named = (data?.keys ?? []).map(({ id, name, maskedKey }) => ({ value: id, label: `${name ?? 'Unnamed key'} (${maskedKey})` }));
  return [{ value: '', label: 'All keys' }, ...named];
}

function useProductChoices(): readonly RequestChoice[] {
  const { data } = useQuery(productsQuery);
  const subscribed = (data?.products ?? []).filter(({ subscription }) => subscription !== null);
  return [{ value: '', label: 'All products' }, ...subscribed.map(({ id, title }) => ({ value: id, label: title }))];
}

function useDayChoices(): readonly RequestChoice[] {
  const { quotaTimeZone } = useSession();
  const today = dayOf(new Date(), quotaTimeZone);
  const days = Array.from({ length: DAYS_KEPT + 1 }, (_, back) => addDays(today, -back));
  return [{ value: '', label: 'Last 7 days' }, ...days.map((day) => ({ value: day, label: day === today ? 'Today' : formatDay(day) }))];
}

/** Filters of the log, kept in the address. */
function RequestFilters(): ReactNode {
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
