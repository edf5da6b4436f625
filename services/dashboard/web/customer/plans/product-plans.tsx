import { Alert, Badge, Button, Group, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { planName } from '../../../reference/plan-name';
import { type PlanRequest, type Product, type Subscription } from '../../../contract/plans';
import { openedText, opensLess, opensNothing } from '../../../reference/live-routes';
import { explainConflict } from '../../parts/api/explain-conflict';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { ConsentChoice, isAgreed, wantingConsent } from '../../parts/components/consent-choice';
import { formatPrice } from '../../parts/format/numbers';
import { formatMoment } from '../../parts/format/time';
import { Guarded } from '../../parts/components/guarded';
import { Moment } from '../../parts/components/moment';
import { SuspensionNotice } from '../../parts/components/suspension-notice';
import { WindowBar } from '../../parts/components/window-bar';
import { isSubscribed, openedOf, rateText, type WantedOffer } from './offers';
import { OfferCards } from './offer-cards';
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

/** The kinds of keys that a product serves, if it can be called. */
function LiveState({ product }: { readonly product: Product }): ReactNode {
  const opened = openedOf(product);
  // An API of the seller's own reports no source.
  if (product.liveSource === null || opened === undefined) return null;
  const since = <Moment at={product.liveSource.since} />;
  if (!opensLess(opened)) {
    return (
      <Text size="xs" c="dimmed">
        Live and test keys, since {since}
      </Text>
    );
  }
  return (
    <Text size="xs" fw={600}>
      {opened.isThere ? 'An index only' : opensNothing(opened) ? 'Test keys only' : 'Test keys, live keys in part'}, since {since}.{' '}
      {openedText(opened)}
    </Text>
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

type Act = 'pause' | 'resume' | 'cancel';

const TEXTS = {
  pause: { action: 'Pause', done: 'paused', text: 'Requests to this product are refused until you resume. Usage so far still counts.' },
  resume: { action: 'Resume', done: 'active again', text: 'Requests to this product are accepted again.' },
  cancel: {
    action: 'Cancel subscription',
    done: 'cancelled',
    text: 'Requests to this product are refused from now on, with every key. You can subscribe again at any time; usage so far still counts.',
  },
} as const;

interface SubscriptionActionsProps {
  readonly subscription: Subscription;
  readonly product: Product;
}

/** Pauses, resumes or cancels a subscription; each asks first. */
function SubscriptionActions({ subscription, product }: SubscriptionActionsProps): ReactNode {
  const client = useQueryClient();
  const [act, setAct] = useState<Act>();
  const [consent, setConsent] = useState<string[]>([]);
  const { title } = product;
  const texts = act === 'resume' ? wantingConsent([product]) : [];
  const acts: readonly Act[] = subscription.state === 'active' ? ['pause', 'cancel'] : ['resume', 'cancel'];

  async function change(kind: Act): Promise<void> {
    try {
      const { id, version } = subscription;
      if (kind === 'resume') await call('POST /subscriptions/:id/resume', { params: { id }, body: { version, consent } });
      else await call(`POST /subscriptions/:id/${kind}`, { params: { id }, body: { version } });
      const isStopped = kind === 'resume' && subscription.suspended !== undefined;
      toast(`${title} is ${isStopped ? 'no longer paused, but still suspended by the seller' : TEXTS[kind].done}.`);
    } catch (error) {
      throw explainConflict(error);
    } finally {
      await client.invalidateQueries();
    }
  }

  return (
    <Group gap="xs">
      {subscription.state !== 'cancelled' &&
        acts.map((each) => (
          <Button
            key={each}
            size="compact-sm"
            variant={each === 'resume' ? 'filled' : 'default'}
            className="tappable"
            onClick={() => setAct(each)}
            aria-label={`${TEXTS[each].action}: ${title}`}
          >
            {each === 'cancel' ? 'Cancel' : TEXTS[each].action}
          </Button>
        ))}
      {act && (
        <ConfirmDialog
          title={`${TEXTS[act].action}: ${title}?`}
          action={TEXTS[act].action}
          isDangerous={act === 'cancel'}
          isReady={isAgreed(texts, consent)}
          onConfirm={() => change(act)}
          onClose={() => setAct(undefined)}
        >
          {TEXTS[act].text}
          <ConsentChoice products={texts} agreed={consent} onChange={setConsent} />
        </ConfirmDialog>
      )}
    </Group>
  );
}

interface PlanRequestNoticeProps {
  /** Nothing is shown without one. */
  readonly request: PlanRequest | null;
  /** The product's title. */
  readonly title: string;
}

/** The state of a request for a plan; an open request can be withdrawn. */
function PlanRequestNotice({ request, title }: PlanRequestNoticeProps): ReactNode {
  if (request?.state === 'open') return <OpenRequest request={request} title={title} />;
  if (request?.state !== 'declined') return null;
  return (
    <Alert color="orange" title={`${request.plan} was declined`}>
      <Text size="sm">{request.reason}</Text>
      {request.answeredAt !== null && (
        <Text size="sm" c="dimmed">
          <Moment at={request.answeredAt} />
        </Text>
      )}
    </Alert>
  );
}

function OpenRequest({ request, title }: { readonly request: PlanRequest; readonly title: string }): ReactNode {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);

  async function withdraw(): Promise<void> {
    try {
      await call('POST /plan-requests/:id/withdraw', { params: { id: request.id } });
      toast('Request withdrawn.');
    } finally {
      await client.invalidateQueries();
    }
  }

  return (
    <Alert color="blue" title={`${request.plan} requested`}>
      <Text size="sm">
        Asked <Moment at={request.askedAt} />, for {formatPrice(request)} a month. You will be told by email; until then nothing changes.
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        className="tappable"
        mt="xs"
        onClick={() => setAsking(true)}
        aria-label={`Withdraw the request: ${title}`}
      >
        Withdraw
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`Withdraw the request for ${request.plan}?`}
          action="Withdraw the request"
          onConfirm={withdraw}
          onClose={() => setAsking(false)}
        >
          {title} stays as it is. You can ask again at any time.
        </ConfirmDialog>
      )}
    </Alert>
  );
}
