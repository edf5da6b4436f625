import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSearch, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Group, NativeSelect } from '@mantine/core';
import { usageQuery, productsQuery } from '../../parts/api/queries';
import { addressOf } from '../../parts/api/request';
import { addDays, dayOf, lastHours, readerZone } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { HoursView } from './hours-view';
import { UsageView } from './usage-view';
import { ExportLink } from '../../parts/components/export-link';
import { GrainSwitch } from './grain-switch';
import type { Grain } from './usage-chart';

/** Usage by product, and refused requests, by day or hour. */
export function UsagePage(): ReactNode {
  const { days, hours, product } = useSearch({ from: '/shell/usage' });
  const { quotaTimeZone } = useSession();
  const today = dayOf(new Date(), quotaTimeZone);
  const zone = readerZone();
  const { by, length } = chosenLength({ days, hours });
  const slots = by === 'hour' ? lastHours(Date.now(), length, quotaTimeZone) : [];
  const from = by === 'hour' ? dayOf(new Date(slots[0] ?? Date.now()), quotaTimeZone) : addDays(today, 1 - length);
  const period = { from, to: today, product, by };
  const query = useQuery({ ...usageQuery(period), placeholderData: keepPreviousData });
  return (
    <>
      <PageTitle title="Usage" actions={<ExportLink href={addressOf('GET /usage.csv', { query: period })} />}>
        {by === 'hour'
          ? `Hours are shown in ${zone === 'UTC' ? 'UTC, which is your time zone' : `your time zone, ${zone}, and in UTC`}.`
          : `Days start at midnight in ${quotaTimeZone}.`}{' '}
        Figures are at most a few seconds old.
      </PageTitle>
      <UsageFilters />
      <Loaded query={query} height={900}>
        {(usage) =>
          by === 'hour' ? <HoursView usage={usage} slots={slots} product={product} /> : <UsageView usage={usage} period={period} />
        }
      </Loaded>
    </>
  );
}

const LENGTHS = {
  day: { usual: '30', choices: ['7', '30', '90'].map((value) => ({ value, label: `${value} days` })) },
  hour: { usual: '24', choices: ['24', '48'].map((value) => ({ value, label: `${value} hours` })) },
} as const;

interface Lengths {
  readonly days: string | undefined;
  readonly hours: string | undefined;
}

/** The period in the address: hours if it names any, else days. */
function chosenLength({ days, hours }: Lengths): { readonly by: Grain; readonly length: number } {
  const by = hours === undefined ? 'day' : 'hour';
  const { usual, choices } = LENGTHS[by];
  const wanted = choices.find(({ value }) => value === (hours ?? days));
  return { by, length: Number(wanted?.value ?? usual) };
}

/** Filters of usage, kept in the address. */
function UsageFilters(): ReactNode {
  const search = useSearch({ from: '/shell/usage' });
  const navigate = useNavigate({ from: '/usage' });
  const { data } = useQuery(productsQuery);
  const { by, length } = chosenLength(search);
  const subscribed = data?.products.filter((each) => each.subscription !== null) ?? [];
  const products = [{ value: '', label: 'All products' }, ...subscribed.map(({ id, title }) => ({ value: id, label: title }))];
  const go = (change: Partial<typeof search>): void => void navigate({ search: { ...search, ...change }, replace: true });
  const showLength = (grain: Grain, value: string): void =>
    go({ days: grain === 'day' ? value : undefined, hours: grain === 'hour' ? value : undefined });
  return (
    <Group gap="xs" mb="md">
      <GrainSwitch by={by} onChange={(grain) => showLength(grain, LENGTHS[grain].usual)} />
      <NativeSelect
        aria-label="Period"
        data={LENGTHS[by].choices}
        value={String(length)}
        onChange={(event) => showLength(by, event.currentTarget.value)}
      />
      <NativeSelect
        aria-label="Product"
        data={products}
        value={search.product ?? ''}
        onChange={(event) => go({ product: event.currentTarget.value || undefined })}
      />
    </Group>
  );
}
