import { Alert, List } from '@mantine/core';
import { type ReactNode } from 'react';
import { FREE_PLAN } from '../../../reference/plan-name';
import { type Product } from '../../../contract/plans';
import { ConsentChoice, isAgreed, wantingConsent } from '../../parts/components/consent-choice';
import { formatCount } from '../../parts/format/numbers';
import { countedBy, limitsUnder, offersOf } from '../plans/offers';

interface NewSubscriptionsProps {
  readonly products: readonly Product[];
  /** Ids of the products chosen for a key. */
  readonly chosen: readonly string[];
}

/** The chosen products without a subscription. The key will subscribe to them. */
export function findNewSubscriptions({ products, chosen }: NewSubscriptionsProps): Product[] {
  const isMissing = ({ subscription }: Product): boolean => subscription === null || subscription.state === 'cancelled';
  return products.filter((product) => chosen.includes(product.id) && product.subscribable && isMissing(product));
}

/** The chosen products whose text must be agreed to first. */
function findTexts({ products, chosen }: NewSubscriptionsProps): Product[] {
  return wantingConsent(products.filter(({ id, subscribable }) => chosen.includes(id) && subscribable));
}

interface ConsentProps {
  /** The texts that the reader agreed to. */
  readonly consent: readonly string[];
  readonly onConsent: (agreed: string[]) => void;
  readonly error?: ReactNode;
}

/** The message for a form that lacks a consent. */
export function checkConsent(
  products: readonly Product[],
  { chosen, consent }: { chosen: readonly string[]; consent: readonly string[] },
): string | null {
  if (isAgreed(findTexts({ products, chosen }), consent)) return null;
  return 'Agree to the text, or leave the product out.';
}

/** Shows, before a form is sent, what it subscribes to and which texts it agrees to. Nothing is shown when there is neither. */
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
  if (!base) return FREE_PLAN;
  const { daily, monthly } = limitsUnder(base, product.subscription);
  return `${formatCount(daily)} ${countedBy(product)} a day, ${formatCount(monthly)} a month`;
}
