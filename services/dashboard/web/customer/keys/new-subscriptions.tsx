import { Alert, List } from '@mantine/core';
import { type ReactNode } from 'react';
import { type Product } from '../../../contract/plans';
import { ConsentChoice, isAgreed, wantingConsent } from '../../parts/components/consent-choice';
import { formatCount } from '../../parts/format/numbers';
import { countedBy, limitsUnder, offersOf } from '../plans/offers';

interface NewSubscriptionsProps {
  readonly products: readonly Product[];
  /** Ids of those that are chosen for a key. */
  readonly chosen: readonly string[];
}

/** Of the chosen products those without a subscription, which a key brings about. */
export function findNewSubscriptions({ products, chosen }: NewSubscriptionsProps): Product[] {
  const isMissing = ({ subscription }: Product): boolean => subscription === null || subscription.state === 'cancelled';
  return products.filter((product) => chosen.includes(product.id) && product.subscribable && isMissing(product));
}

/** Of the chosen products those whose text has to be agreed to first. */
function findTexts({ products, chosen }: NewSubscriptionsProps): Product[] {
  return wantingConsent(products.filter(({ id, subscribable }) => chosen.includes(id) && subscribable));
}

interface ConsentProps {
  /** The texts that were agreed to. */
  readonly consent: readonly string[];
  readonly onConsent: (agreed: string[]) => void;
  readonly error?: ReactNode;
}

/** A message where a form lacks a consent that is asked for. */
export function checkConsent(
  products: readonly Product[],
  { chosen, consent }: { chosen: readonly string[]; consent: readonly string[] },
): string | null {
  if (isAgreed(findTexts({ products, chosen }), consent)) return null;
  return 'Agree to the text, or leave the product out.';
}

/** Says, before a form is sent, what it subscribes to besides and what is agreed to with it. Nothing is shown when that is nothing. */
export function NewSubscriptions({ consent, onConsent, error, ...props }: NewSubscriptionsProps & ConsentProps): ReactNode {
  const fresh = findNewSubscriptions(props);
  const choice = <ConsentChoice products={findTexts(props)} agreed={consent} onChange={onConsent} error={error} />;
  if (fresh.length === 0) return choice;
  return (
    <Alert color="blue" title="This also subscribes you, free of charge, to">
      <List size="sm">
        {fresh.map((product) => (
          <List.Item key={product.id}>
            {product.title}: {describeBase(product)}
          </List.Item>
        ))}
      </List>
      {choice}
    </Alert>
  );
}

function describeBase(product: Product): string {
  const base = offersOf(product).find(({ plan }) => plan === null);
  if (!base) return 'base limits';
  const { daily, monthly } = limitsUnder(base, product.subscription);
  return `${formatCount(daily)} ${countedBy(product)} a day, ${formatCount(monthly)} a month`;
}
