import { Group, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { productsQuery } from '../../parts/api/queries';
import { GrainSwitch } from './grain-switch';
import { type Grain } from './usage-chart';

const LENGTHS = {
  day: { usual: '30', choices: ['7', '30', '90'].map((value) => ({ value, label: `${value} days` })) },
  hour: { usual: '24', choices: ['24', '48'].map((value) => ({ value, label: `${value} hours` })) },
} as const;

interface Lengths {
  readonly days: string | undefined;
  readonly hours: string | undefined;
}

/** What the address asks for: hours where it names any, and days otherwise. */
export function chosenLength({ days, hours }: Lengths): { readonly by: Grain; readonly length: number } {
  const by = hours === undefined ? 'day' : 'hour';
  const { usual, choices } = LENGTHS[by];
  const wanted = choices.find(({ value }) => value === (hours ?? days));
  return { by, length: Number(wanted?.value ?? usual) };
}

/** What narrows usage down; kept in the address. */
export function UsageFilters(): ReactNode {
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
