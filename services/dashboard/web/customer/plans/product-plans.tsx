import { Badge, Group, Text, Title } from '@mantine/core';
import { type ReactNode } from 'react';
import { planName } from '../../../reference/plan-name';
import { type Product, type Subscription } from '../../../contract/plans';
import { formatPrice } from '../../parts/format/numbers';
import { formatMoment } from '../../parts/format/time';
import { Guarded } from '../../parts/components/guarded';
import { SuspensionNotice } from '../../parts/components/suspension-notice';
import { WindowBar } from '../../parts/components/window-bar';
import { LiveState } from './live-state';
import { isSubscribed, rateText, type WantedOffer } from './offers';
import { OfferCards } from './offer-cards';
import { PlanRequestNotice } from './plan-request-notice';
import { SubscriptionActions } from './subscription-actions';
import classes from './product-plans.module.css';

const STATES = {
  active: { color: 'green', text: 'Subscribed' },
  paused: { color: 'yellow', text: 'Paused' },
  cancelled: { color: 'gray', text: 'Cancelled' },
} as const;

/** One product: what it does, the customer's subscription to it, and what it costs. */
export function ProductPlans({ product, wanted }: { readonly product: Product; readonly wanted: WantedOffer }): ReactNode {
  const { subscription } = product;
  const isOwn = isSubscribed(product) && subscription !== null;
  return (
    <section className={classes['product']} aria-label={product.title}>
      <div>
        <Group gap="0 0.5rem">
          <Title order={3}>{product.title}</Title>
          <span className={`mono keep dimmed ${classes['id']}`}>{product.id}</span>
        </Group>
        <Text size="xs" c="dimmed">
          {product.description}
        </Text>
        {product.routes.length > 0 && <LiveState product={product} />}
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
      {isOwn && <Standing subscription={subscription} title={product.title} />}
      <OfferCards product={product} wanted={wanted} />
    </section>
  );
}

/** Suspension by the seller comes before any other state, even if the customer has just subscribed again or resumed. */
function StateBadge({ subscription: { state, suspended } }: { readonly subscription: Subscription }): ReactNode {
  if (suspended && state !== 'cancelled') return <Badge color="red">Suspended</Badge>;
  return <Badge color={STATES[state].color}>{STATES[state].text}</Badge>;
}

function Standing({ subscription, title }: { readonly subscription: Subscription; readonly title: string }): ReactNode {
  return (
    <div className={classes['standing']}>
      <WindowBar window="day" standing={subscription.daily} of={title} included={subscription.includedNow?.today} />
      <WindowBar window="month" standing={subscription.monthly} of={title} included={subscription.includedNow?.thisMonth} />
      <OwnTerms subscription={subscription} />
    </div>
  );
}

/** The customer's own terms from the seller, and until when. */
function OwnTerms({ subscription: { plan, ownLimits, ownPrice, ownUntil } }: { readonly subscription: Subscription }): ReactNode {
  const { daily, monthly, rate } = ownLimits;
  const own = [
    ...(ownPrice === null ? [] : [`price, ${formatPrice(ownPrice)} a month`]),
    ...(daily === null && monthly === null ? [] : ['limits']),
    ...(rate === null ? [] : [`rate, ${rateText(rate)}`]),
  ];
  if (own.length === 0) return null;
  const what = own.join(', and ');
  return (
    <Text size="xs">
      Your own {what} on {planName(plan)}
      {ownUntil === null ? ', in place of the plan’s.' : ` until ${formatMoment(ownUntil)}; then the plan’s count again.`}
    </Text>
  );
}
