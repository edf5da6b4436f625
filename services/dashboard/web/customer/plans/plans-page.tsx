import { Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Product } from '../../../contract/plans';
import { productsQuery } from '../../parts/api/queries';
import { EmptyState } from '../../parts/components/empty-state';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { isSubscribed, type WantedOffer } from './offers';
import { ProductPlans } from './product-plans';
import classes from './product-plans.module.css';

/** The catalogue: what the customer has subscribed to, then every other product with its limits and prices. */
export function PlansPage(): ReactNode {
  const query = useQuery({ ...productsQuery, refetchInterval: 15_000 });
  // A refusal by a limit links to the next larger plan here, and so does a plan chosen before signing up.
  const wanted = useSearch({ from: '/shell/plans' });
  return (
    <>
      <PageTitle title="Plans">Changes take effect with the next request. Usage of today and this month still counts.</PageTitle>
      <Loaded query={query} height={900}>
        {({ products }) => {
          return (
            <Stack gap="lg">
              <ProductSection title="Your subscriptions" products={products.filter(isSubscribed)} wanted={wanted}>
                <EmptyState title="None yet">
                  {products.length === 0 ? 'No product is on sale yet.' : 'Subscribe to a product below: Free costs nothing.'}
                </EmptyState>
              </ProductSection>
              {!products.every(isSubscribed) && (
                <ProductSection title="Other products" products={products.filter((product) => !isSubscribed(product))} wanted={wanted} />
              )}
            </Stack>
          );
        }}
      </Loaded>
    </>
  );
}

interface ProductSectionProps {
  readonly title: string;
  readonly products: readonly Product[];
  readonly wanted: WantedOffer;
  /** Shown if there are no products. */
  readonly children?: ReactNode;
}

function ProductSection({ title, products, wanted, children }: ProductSectionProps): ReactNode {
  return (
    <section aria-label={title}>
      <Title order={2} mb="xs">
        {title}
      </Title>
      <div className={`panel ${classes['list']}`}>
        {products.length === 0 ? children : products.map((product) => <ProductPlans key={product.id} product={product} wanted={wanted} />)}
      </div>
    </section>
  );
}
