import { Badge, Group, SimpleGrid, Text, Title } from '@mantine/core';
import { type ReactNode } from 'react';
import { type Product, type Subscription } from '../../../contract/plans';
import { WindowBar } from '../../components/window-bar';
import { OfferList } from './offer-list';
import { SubscriptionActions } from './subscription-actions';
import classes from './product-plans.module.css';

const STATES = {
  active: { color: 'green', text: 'Subscribed' },
  paused: { color: 'yellow', text: 'Paused' },
  cancelled: { color: 'gray', text: 'Cancelled' },
} as const;

/** One product: what it does, what it costs, and how the customer stands with it. */
export function ProductPlans({ product }: { readonly product: Product }): ReactNode {
  const { subscription } = product;
  return (
    <section className="panel" aria-label={product.title}>
      <Group justify="space-between" align="flex-start" gap="xs">
        <div className={classes['about']}>
          <Group gap="xs">
            <Title order={2}>{product.title}</Title>
            {subscription && <Badge color={STATES[subscription.state].color}>{STATES[subscription.state].text}</Badge>}
          </Group>
          <Text size="sm" c="dimmed">
            <span className="mono">{product.id}</span> · {product.description}
          </Text>
        </div>
        {subscription && <SubscriptionActions subscription={subscription} title={product.title} />}
      </Group>
      <div className={classes['columns']}>
        <OfferList product={product} />
        {subscription && subscription.state !== 'cancelled' && <Standing subscription={subscription} title={product.title} />}
      </div>
    </section>
  );
}

function Standing({ subscription, title }: { readonly subscription: Subscription; readonly title: string }): ReactNode {
  return (
    <SimpleGrid cols={1} spacing="sm">
      <WindowBar window="day" standing={subscription.daily} of={title} />
      <WindowBar window="month" standing={subscription.monthly} of={title} />
      {subscription.hasOwnLimits && (
        <Text size="xs" c="dimmed">
          These limits were set for you alone, and count in place of the plan&apos;s.
        </Text>
      )}
    </SimpleGrid>
  );
}
