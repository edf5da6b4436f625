import { Badge, Button, Group, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { planName } from '../../reference/plan-name';
import type { CustomerDetails } from '../../contract/operator-customers';
import type { Subscription } from '../../contract/plans';
import { formatCount, formatPrice } from '../parts/format/numbers';
import { DataTable, type Column } from '../parts/components/data-table';
import { EmptyState } from '../parts/components/empty-state';
import { Moment } from '../parts/components/moment';
import { limitsText, rateText, thenText } from '../customer/plans/offers';
import { LimitsDialog } from './limits-dialog';
import type { SuspensionTarget } from './suspend-dialog';
import { useSoldTitles } from '../parts/hooks/use-product-titles';

interface CustomerSubscriptionsProps {
  readonly customer: CustomerDetails;
  readonly onSuspend: (target: SuspensionTarget) => void;
}

const STATES = {
  active: { color: 'green', text: 'Active' },
  paused: { color: 'yellow', text: 'Paused' },
  cancelled: { color: 'gray', text: 'Cancelled' },
} as const;

/** The customer's subscriptions and use, with buttons to limit and to stop them. */
export function CustomerSubscriptions({ customer, onSuspend }: CustomerSubscriptionsProps): ReactNode {
  const [limited, setLimited] = useState<Subscription>();
  const titleOf = useSoldTitles();
  const { subscriptions, limitTerms } = customer;
  const termOf = ({ id }: Subscription) => limitTerms.find(({ subscriptionId }) => subscriptionId === id);
  const columns: readonly Column<Subscription>[] = [
    { header: 'Product', isTitle: true, cell: ({ product }) => <span className="keep">{titleOf(product)}</span> },
    {
      header: 'Plan',
      cell: ({ plan, ownPrice, overage, rate }) => (
        <>
          {planName(plan)}
          {ownPrice && <span className="dimmed keep"> at {formatPrice(ownPrice)}</span>}
          {overage && (
            <Text component="span" display="block" size="xs" c="dimmed">
              {limitsText(overage)} included{thenText({ currency: overage.currency, overage })}
            </Text>
          )}
          {rate && (
            <Text component="span" display="block" size="xs" c="dimmed">
              {rateText(rate)}
            </Text>
          )}
        </>
      ),
    },
    {
      header: 'State',
      cell: ({ state, suspended }) =>
        suspended ? <Badge color="red">Suspended</Badge> : <Badge color={STATES[state].color}>{STATES[state].text}</Badge>,
    },
    { header: 'Today', isNumber: true, cell: ({ daily }) => `${formatCount(daily.used)} of ${formatCount(daily.limit)}` },
    { header: 'This month', isNumber: true, cell: ({ monthly }) => `${formatCount(monthly.used)} of ${formatCount(monthly.limit)}` },
    { header: 'Own terms', isWide: true, cell: (subscription) => <Term term={termOf(subscription)} hasOwn={subscription.hasOwnLimits} /> },
    {
      header: 'Acts',
      isHeaderHidden: true,
      cell: (subscription) => (
        <Group gap={6} wrap="nowrap">
          <Button
            size="compact-xs"
            variant="default"
            className="tappable"
            disabled={subscription.state === 'cancelled'}
            onClick={() => setLimited(subscription)}
            aria-label={`Price and limits of ${titleOf(subscription.product)}`}
          >
            Terms
          </Button>
          <SuspendButton
            target={{
              kind: 'subscription',
              id: subscription.id,
              name: titleOf(subscription.product),
              product: subscription.product,
              isSuspended: subscription.suspended !== undefined,
            }}
            onSuspend={onSuspend}
          />
        </Group>
      ),
    },
  ];
  return (
    <>
      <DataTable
        caption="Subscriptions"
        columns={columns}
        rows={subscriptions}
        rowKey={({ id }) => id}
        empty={<EmptyState title="No subscriptions">A key that you issue subscribes the customer to its products.</EmptyState>}
      />
      {limited && (
        <LimitsDialog
          customerId={customer.id}
          subscription={limited}
          title={titleOf(limited.product)}
          term={termOf(limited)}
          onClose={() => setLimited(undefined)}
        />
      )}
    </>
  );
}

/** Button in a row: suspends its subject, or restores it. */
export function SuspendButton({
  target,
  onSuspend,
  disabled = false,
}: {
  readonly target: SuspensionTarget;
  readonly onSuspend: (target: SuspensionTarget) => void;
  readonly disabled?: boolean;
}): ReactNode {
  const act = target.isSuspended ? 'Restore' : 'Suspend';
  return (
    <Button
      size="compact-xs"
      variant="default"
      className="tappable"
      disabled={disabled}
      onClick={() => onSuspend(target)}
      aria-label={`${act} ${target.name}`}
    >
      {act}
    </Button>
  );
}

function Term({ term, hasOwn }: { readonly term: CustomerDetails['limitTerms'][number] | undefined; readonly hasOwn: boolean }): ReactNode {
  if (!term) return <span className="dimmed">{hasOwn ? 'by the command line' : 'none'}</span>;
  return (
    <>
      {term.reason}
      <Text component="span" display="block" size="xs" c="dimmed">
        {term.setBy},{' '}
        {term.endsAt === null ? (
          'for good'
        ) : (
          <>
            until <Moment at={term.endsAt} isExact />
          </>
        )}
      </Text>
    </>
  );
}
