import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type AlertSettings } from '../../../contract/alerts';
import { type Product } from '../../../contract/plans';
import { productsQuery } from '../../parts/api/queries';
import { DataTable, type Column } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { formatCount } from '../../parts/format/numbers';
import { countedBy } from '../plans/offers';
import { ThresholdDialog, type WatchedSubscription } from './threshold-dialog';

function watched(products: readonly Product[], { thresholds }: AlertSettings): WatchedSubscription[] {
  return products.flatMap((product) => {
    const { title, subscription } = product;
    if (!subscription || subscription.state === 'cancelled') return [];
    const percents = thresholds.find(({ subscriptionId }) => subscriptionId === subscription.id)?.percents ?? null;
    return [{ title, counted: countedBy(product), subscription, percents }];
  });
}

function columnsFor(onChange: (subscriptionId: string) => void): readonly Column<WatchedSubscription>[] {
  return [
    { header: 'Product', isTitle: true, cell: ({ title }) => title },
    { header: 'Alerts at', cell: ({ percents }) => (percents ?? [50, 80, 100]).map((each) => `${each}%`).join(', ') },
    {
      header: 'Stops at',
      cell: ({ counted, subscription: { dailyCap } }) =>
        dailyCap === null ? <span className="dimmed">The limit</span> : `${formatCount(dailyCap)} ${counted} a day`,
    },
    {
      header: 'Change',
      isHeaderHidden: true,
      cell: ({ title, subscription }) => (
        <Button
          size="compact-xs"
          variant="default"
          className="tappable"
          onClick={() => onChange(subscription.id)}
          aria-label={`Change ${title}`}
        >
          Change
        </Button>
      ),
    },
  ];
}

/** At which shares of its limits each subscription alerts, and where the customer wants it to stop. */
export function ThresholdTable({ settings }: { readonly settings: AlertSettings }): ReactNode {
  const { data } = useQuery(productsQuery);
  const [changedId, setChangedId] = useState<string>();
  const rows = data && watched(data.products, settings);
  const changed = rows?.find(({ subscription }) => subscription.id === changedId);
  return (
    <>
      <DataTable
        caption="Thresholds"
        columns={columnsFor(setChangedId)}
        rows={rows}
        rowKey={({ subscription }) => subscription.id}
        expectedRows={3}
        empty={<EmptyState title="No subscriptions yet">Each subscription can have thresholds and a daily cap of its own.</EmptyState>}
      />
      {changed && <ThresholdDialog watched={changed} onClose={() => setChangedId(undefined)} />}
    </>
  );
}
