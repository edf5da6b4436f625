import { Button, Group, Loader, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type AnswerOf } from '../../../contract/endpoints';
import { checkoutQuery } from '../../parts/api/queries';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { Panel } from '../../parts/components/panel';
import { formatPrice } from '../../parts/format/numbers';
import { useProductTitles } from '../../parts/hooks/use-product-titles';

type Checkout = AnswerOf<'GET /checkouts/:id'>;

const toPlans = (text: string): ReactNode => (
  <Link to="/plans" className="text-link in-text">
    {text}
  </Link>
);

function Outcome({ checkout, title }: { readonly checkout: Checkout; readonly title: string }): ReactNode {
  const { plan, state, url, isSold, leadsBack } = checkout;
  const price = formatPrice({ price: checkout.price, currency: checkout.currency });
  if (state === 'paid') {
    return (
      <Text size="sm">
        The payment has arrived. {title} is on {plan} now. Go to {toPlans('your plans')}.
      </Text>
    );
  }
  if (state === 'closed' && !isSold) {
    return (
      <Text size="sm">
        {plan} is no longer offered as you saw it, so this checkout was closed. You paid nothing, and nothing changed. Choose again under{' '}
        {toPlans('Plans')}.
      </Text>
    );
  }
  if (state === 'closed') {
    return <Text size="sm">This checkout is over. You paid nothing, and nothing changed. Choose again under {toPlans('Plans')}.</Text>;
  }
  return (
    <>
      <Group gap="sm" role="status">
        <Loader size="xs" />
        <Text size="sm">Nothing has arrived yet. If you have paid, this page updates by itself, usually within seconds.</Text>
      </Group>
      <Text size="sm" mt="xs">
        Until then your current plan continues. If you went back without paying, nothing is charged.
      </Text>
      {url !== null && leadsBack && (
        <Button component="a" href={url} variant="default" mt="sm">
          Back to paying {price}
        </Button>
      )}
      {url !== null && !leadsBack && (
        <>
          <Text size="sm" mt="xs">
            The payment page opens in a new tab and does not lead back here. Leave this tab open.
          </Text>
          <Button component="a" href={url} target="_blank" rel="noopener noreferrer" mt="sm">
            Pay {price}
          </Button>
        </>
      )}
    </>
  );
}

/** The page to which customers come back from the payment provider. It says what is known, and no more. */
export function CheckoutPage(): ReactNode {
  const { checkoutId } = useParams({ from: '/shell/billing/checkouts/$checkoutId' });
  const query = useQuery(checkoutQuery(checkoutId));
  const titleOf = useProductTitles();
  return (
    <>
      <PageTitle title="Payment" />
      <Loaded query={query} height={120}>
        {(checkout) => (
          <Panel title={`${titleOf(checkout.product)}: ${checkout.plan}`}>
            <Outcome checkout={checkout} title={titleOf(checkout.product)} />
          </Panel>
        )}
      </Loaded>
    </>
  );
}
