import { Badge, Group, Text, Title } from '@mantine/core';
import { type ReactNode } from 'react';
import { type Product, type Subscription } from '../../../contract/plans';
import { Guarded } from '../../components/guarded';
import { SuspensionNotice } from '../../components/suspension-notice';
import { WindowBar } from '../../components/window-bar';
import { LiveState } from './live-state';
import { OfferList } from './offer-list';
import { PlanRequestNotice } from './plan-request-notice';
import { SubscriptionActions } from './subscription-actions';
import classes from './product-plans.module.css';

const STATES = {
  active: { color: 'green', text: 'Subscribed' },
  paused: { color: 'yellow', text: 'Paused' },
  cancelled: { color: 'gray', text: 'Cancelled' },
} as const;

/** One product in a line: what it does, what it costs, and how the customer stands with it. */
export function ProductPlans({ product }: { readonly product: Product }): ReactNode {
  const { subscription } = product;
  const isOwn = subscription !== null && subscription.state !== 'cancelled';
  return (
    <section className={classes['product']} aria-label={product.title}>
      <div className={classes['about']}>
        <Group gap="0 0.5rem">
          <Title order={3}>{product.title}</Title>
          <span className={`mono keep dimmed ${classes['id']}`}>{product.id}</span>
        </Group>
        <Text size="xs" c="dimmed">
          {product.description}
        </Text>
        {product.routes.length > 0 && <LiveState source={product.liveSource} liveRoutes={product.liveRoutes} />}
        {subscription && (
          <Group gap="xs" mt={6}>
            <StateBadge subscription={subscription} />
            <Guarded needs="plans">
              <SubscriptionActions subscription={subscription} product={product} />
            </Guarded>
          </Group>
        )}
        {isOwn && subscription.suspended && (
          <div className={classes['notice']}>
            <SuspensionNotice suspended={subscription.suspended} effect="Requests to this product are refused." />
          </div>
        )}
        {product.request && (
          <div className={classes['notice']}>
            <Guarded needs="plans">
              <PlanRequestNotice request={product.request} title={product.title} />
            </Guarded>
          </div>
        )}
      </div>
      <Guarded needs="plans">
        <OfferList product={product} />
      </Guarded>
      {isOwn && <Standing subscription={subscription} title={product.title} />}
    </section>
  );
}

/** One that the provider suspended is that before all else, also where its customer has just subscribed again or resumed it. */
function StateBadge({ subscription: { state, suspended } }: { readonly subscription: Subscription }): ReactNode {
  if (suspended && state !== 'cancelled') return <Badge color="red">Suspended</Badge>;
  return <Badge color={STATES[state].color}>{STATES[state].text}</Badge>;
}

function Standing({ subscription, title }: { readonly subscription: Subscription; readonly title: string }): ReactNode {
  return (
    <div className={classes['standing']}>
      <WindowBar window="day" standing={subscription.daily} of={title} />
      <WindowBar window="month" standing={subscription.monthly} of={title} />
      {subscription.hasOwnLimits && (
        <Text size="xs" c="dimmed">
          Custom limits, which apply instead of the plan&apos;s.
        </Text>
      )}
    </div>
  );
}
