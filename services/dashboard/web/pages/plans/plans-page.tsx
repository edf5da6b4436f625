import { SegmentedControl, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { productsQuery } from '../../api/queries';
import { EmptyState } from '../../components/empty-state';
import { Loaded } from '../../components/loaded';
import { PageTitle } from '../../components/page-title';
import { ProductPlans } from './product-plans';

/** The catalogue: every product with its limits and prices, and what the customer has subscribed to. */
export function PlansPage(): ReactNode {
  const query = useQuery({ ...productsQuery, refetchInterval: 15_000 });
  const [shown, setShown] = useState('all');
  return (
    <>
      <PageTitle title="Plans">A change takes effect with the next request. What was used today and this month stays used.</PageTitle>
      <SegmentedControl
        aria-label="Products shown"
        value={shown}
        onChange={setShown}
        size="sm"
        mb="md"
        data={[
          { value: 'all', label: 'All products' },
          { value: 'mine', label: 'Subscribed' },
        ]}
      />
      <Loaded query={query} height={900}>
        {({ products }) => {
          const visible = products.filter((product) => shown === 'all' || product.subscription !== null);
          if (visible.length === 0) {
            return (
              <EmptyState title="No subscriptions yet">Look at all products, and subscribe to one; base limits cost nothing.</EmptyState>
            );
          }
          return (
            <Stack gap="md">
              {visible.map((product) => (
                <ProductPlans key={product.id} product={product} />
              ))}
            </Stack>
          );
        }}
      </Loaded>
    </>
  );
}
