import { Button, Text, Title } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { openedText } from '../../../reference/live-routes';
import { NO_CHARGE, planName } from '../../../reference/plan-name';
import { type Product } from '../../../contract/plans';
import { Guarded } from '../../parts/components/guarded';
import { formatCount, formatPrice } from '../../parts/format/numbers';
import { useMay } from '../../parts/hooks/use-session';
import { ChoosePlanDialog } from './choose-plan-dialog';
import {
  aboveText,
  countedBy,
  isSubscribed,
  limitsText,
  limitsUnder,
  type Offer,
  offersOf,
  openedOf,
  rateText,
  restText,
  type WantedOffer,
  wantedOffer,
  whenText,
} from './offers';
import classes from './product-plans.module.css';

/** The offers of one product side by side, with the current one marked. The offer named in the address opens at once. */
export function OfferCards({ product, wanted }: { readonly product: Product; readonly wanted: WantedOffer }): ReactNode {
  const mayChoose = useMay('plans');
  const [chosen, setChosen] = useState(() => (mayChoose ? wantedOffer(product, wanted) : undefined));
  const offers = offersOf(product);
  if (offers.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Listed only: not open for subscription.
      </Text>
    );
  }
  return (
    <>
      <ul className={classes['offers']} aria-label={`Plans of ${product.title}`}>
        {offers.map((offer) => (
          <OfferCard key={offer.plan ?? ''} product={product} offer={offer} onChoose={setChosen} />
        ))}
      </ul>
      {chosen && <ChoosePlanDialog product={product} offer={chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}

interface OfferProps {
  readonly product: Product;
  readonly offer: Offer;
  readonly onChoose: (offer: Offer) => void;
}

function OfferCard({ product, offer, onChoose }: OfferProps): ReactNode {
  const { subscription } = product;
  const isCurrent = isSubscribed(product) && subscription?.plan === offer.plan;
  const then = limitsUnder(offer, subscription);
  const now = isSubscribed(product) ? { daily: subscription?.daily.limit, monthly: subscription?.monthly.limit } : then;
  const rest = isCurrent ? undefined : restText(offer);
  const counted = countedBy(product);
  const known = openedOf(product);
  const opened = known && openedText(known);
  return (
    <li className={classes['offer']} data-current={isCurrent || undefined}>
      <Title order={4} size="h3">
        {planName(offer.plan)}
      </Title>
      <Price offer={offer} own={isCurrent ? (subscription?.ownPrice ?? null) : null} />
      <ul className={classes['limits']}>
        {offer.overage && (
          <>
            <li>{limitsText(offer)} included</li>
            <li>{aboveText(offer)}, up to</li>
          </>
        )}
        <li className={then.daily === now.daily ? undefined : classes['differs']}>
          {formatCount(then.daily)} {counted} a day
        </li>
        <li className={then.monthly === now.monthly ? undefined : classes['differs']}>
          {formatCount(then.monthly)} {counted} a month
        </li>
        {then.rate && <li>{rateText(then.rate)}</li>}
      </ul>
      {!isCurrent && (
        <Text size="xs" c="dimmed" className={classes['when']}>
          {whenText(offer)}
          {rest !== undefined && <span className={classes['rest']}>{rest}</span>}
          {opened !== undefined && <strong className={classes['rest']}>{opened}</strong>}
        </Text>
      )}
      <div className={classes['act']}>
        <OfferAct product={product} offer={offer} onChoose={onChoose} />
      </div>
    </li>
  );
}

function Price({ offer: { price }, own }: { readonly offer: Offer; readonly own: Offer['price'] }): ReactNode {
  const shown = own ?? price;
  return (
    <p className={classes['price']}>
      {shown === null ? NO_CHARGE : formatPrice(shown)}
      {shown !== null && <span className="dimmed"> a month</span>}
      {own !== null && price !== null && <span className="dimmed">, yours in place of {formatPrice(price)}</span>}
    </p>
  );
}

/** The button for an offer. */
function OfferAct({ product, offer, onChoose }: OfferProps): ReactNode {
  const isOwn = isSubscribed(product);
  if (isOwn && product.subscription?.plan === offer.plan) return <strong>Current plan</strong>;
  if (product.request?.state === 'open' && product.request.plan === offer.plan) return <strong>Requested</strong>;
  const act = offer.needsApproval ? 'Request' : isOwn ? 'Change' : 'Subscribe';
  const label = act === 'Request' ? `Request ${offer.plan} of ${product.title}` : `${act} ${product.title} to ${planName(offer.plan)}`;
  return (
    <Guarded needs="plans">
      <Button size="compact-sm" variant="default" className="tappable" fullWidth onClick={() => onChoose(offer)} aria-label={label}>
        {act}
      </Button>
    </Guarded>
  );
}
