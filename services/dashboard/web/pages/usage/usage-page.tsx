import { Button, Group, NativeSelect } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { productsQuery, usageQuery } from '../../api/queries';
import { apiPath, queryText } from '../../api/request';
import { addDays, dayOf } from '../../format/time';
import { useSession } from '../../hooks/use-session';
import { Loaded } from '../../components/loaded';
import { PageTitle } from '../../components/page-title';
import { UsageView } from './usage-view';

const PERIODS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
];

/** Usage by product, and refused requests. */
export function UsagePage(): ReactNode {
  const { days = '30', product } = useSearch({ from: '/shell/usage' });
  const { quotaTimeZone } = useSession();
  const today = dayOf(new Date(), quotaTimeZone);
  const length = PERIODS.some(({ value }) => value === days) ? Number(days) : 30;
  const period = { from: addDays(today, 1 - length), to: today, product };
  const query = useQuery({ ...usageQuery(period), placeholderData: keepPreviousData });
  return (
    <>
      <PageTitle
        title="Usage"
        actions={
          <Button
            component="a"
            href={`${apiPath('/usage.csv')}${queryText(period)}`}
            download
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            Export CSV
          </Button>
        }
      >
        Days start at midnight in {quotaTimeZone}. Figures are at most a few seconds old.
      </PageTitle>
      <Filters days={String(length)} product={product} />
      <Loaded query={query} height={900}>
        {(usage) => <UsageView usage={usage} period={period} />}
      </Loaded>
    </>
  );
}

function Filters({ days, product }: { readonly days: string; readonly product: string | undefined }): ReactNode {
  const navigate = useNavigate({ from: '/usage' });
  const { data } = useQuery(productsQuery);
  const subscribed = data?.products.filter((each) => each.subscription !== null) ?? [];
  const choices = [{ value: '', label: 'All products' }, ...subscribed.map(({ id, title }) => ({ value: id, label: title }))];
  return (
    <Group gap="xs" mb="md">
      <NativeSelect
        aria-label="Period"
        data={PERIODS}
        value={days}
        onChange={(event) => void navigate({ search: { days: event.currentTarget.value, product }, replace: true })}
      />
      <NativeSelect
        aria-label="Product"
        data={choices}
        value={product ?? ''}
        onChange={(event) => void navigate({ search: { days, product: event.currentTarget.value || undefined }, replace: true })}
      />
    </Group>
  );
}
