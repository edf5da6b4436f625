import { Button, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { type Product } from '../../../contract/plans';
import { formatCount, formatPrice } from '../../format/numbers';
import { ChoosePlanDialog } from './choose-plan-dialog';
import { type Offer, offersOf } from './offers';
import classes from './product-plans.module.css';

/** The offers of one product, the current one marked. */
export function OfferList({ product }: { readonly product: Product }): ReactNode {
  const [chosen, setChosen] = useState<Offer>();
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
      <ul className={classes['offers']}>
        {offers.map((offer) => (
          <li key={offer.plan ?? ''} className={classes['offer']}>
            <Text size="sm" fw={600}>
              {offer.plan ?? 'Base'}
            </Text>
            <Text size="sm" className={classes['limits']}>
              <span className="keep">{formatCount(offer.daily)} a day</span>,{' '}
              <span className="keep">{formatCount(offer.monthly)} a month</span>
            </Text>
            <Text size="sm" className={classes['price']}>
              {offer.price === null ? 'Free' : `${formatPrice(offer.price)} / month`}
            </Text>
            <div className={classes['act']}>
              <OfferAct product={product} offer={offer} onChoose={setChosen} />
            </div>
          </li>
        ))}
      </ul>
      {chosen && <ChoosePlanDialog product={product} offer={chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}

interface OfferActProps {
  readonly product: Product;
  readonly offer: Offer;
  readonly onChoose: (offer: Offer) => void;
}

/** What can be done about an offer. */
function OfferAct({ product, offer, onChoose }: OfferActProps): ReactNode {
  const isSubscribed = product.subscription !== null && product.subscription.state !== 'cancelled';
  if (isSubscribed && product.subscription?.plan === offer.plan) {
    return (
      <Text size="sm" fw={600} component="span">
        Current plan
      </Text>
    );
  }
  const isRequested = product.request?.state === 'open' && product.request.plan === offer.plan;
  if (isRequested) {
    return (
      <Text size="sm" fw={600} component="span">
        Requested
      </Text>
    );
  }
  const act = offer.needsApproval ? 'Request' : isSubscribed ? 'Change' : 'Subscribe';
  return (
    <Button
      size="compact-sm"
      variant="default"
      className="tappable"
      onClick={() => onChoose(offer)}
      aria-label={act === 'Request' ? `Request ${offer.plan} of ${product.title}` : `${act} ${product.title} to ${offer.plan ?? 'Base'}`}
    >
      {act}
    </Button>
  );
}
