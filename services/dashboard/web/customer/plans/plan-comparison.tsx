import { Alert, List, Table } from '@mantine/core';
import { type ReactNode } from 'react';
import { NO_CHARGE, planName } from '../../../reference/plan-name';
import { type Product } from '../../../contract/plans';
import { formatCount, formatPrice } from '../../parts/format/numbers';
import { aboveText, countedBy, limitsText, limitsUnder, type Offer, priceNow, rateText, restText } from './offers';

interface PlanComparisonProps {
  readonly product: Product;
  readonly offer: Offer;
}

interface Line {
  readonly title: string;
  readonly now: string;
  readonly then: string;
}

const priceOf = (price: Offer['price']): string => (price === null ? NO_CHARGE : formatPrice(price));

/** What holds now beside what would hold, and a warning where a limit falls. For a new subscription only the latter. */
export function PlanComparison({ product, offer }: PlanComparisonProps): ReactNode {
  const { subscription } = product;
  const isChange = subscription !== null && subscription.state !== 'cancelled';
  const then = limitsUnder(offer, subscription);
  const now = isChange ? { daily: subscription.daily.limit, monthly: subscription.monthly.limit } : then;
  const counted = countedBy(product) === 'units' ? 'Units' : 'Requests';
  const lines: Line[] = [
    { title: 'Plan', now: isChange ? planName(subscription.plan) : '', then: planName(offer.plan) },
    { title: `${counted} a day`, now: formatCount(now.daily), then: formatCount(then.daily) },
    { title: `${counted} a month`, now: formatCount(now.monthly), then: formatCount(then.monthly) },
    { title: 'Price a month', now: priceText(product), then: priceOf(offer.price) },
  ];
  const sold = isChange ? subscription.overage : null;
  if (offer.overage || sold) {
    const above = sold ? aboveText({ price: sold, overage: sold }) : undefined;
    lines.push(
      { title: 'Included', now: isChange ? limitsText(sold ?? now) : '', then: limitsText(offer.overage ? offer : then) },
      { title: 'Above that', now: isChange ? (above ?? 'Refused') : '', then: aboveText(offer) ?? 'Refused' },
    );
  }
  const rateNow = isChange ? subscription.rate : null;
  if (offer.rate || rateNow) {
    const [before, after] = [rateNow, offer.rate].map((rate) => (rate ? rateText(rate) : 'Not limited'));
    lines.push({ title: 'How fast', now: isChange ? (before ?? '') : '', then: after ?? '' });
  }
  const rest = restText(offer);
  if (rest !== undefined) lines.push({ title: 'This month', now: '', then: rest });
  return (
    <>
      <Table withRowBorders verticalSpacing={6} fz="sm" className="numbers" aria-label="What changes">
        <Table.Thead>
          <Table.Tr>
            <Table.Td />
            {isChange && <Table.Th scope="col">Now</Table.Th>}
            <Table.Th scope="col">{isChange ? 'New' : 'You get'}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lines.map((line) => (
            <Table.Tr key={line.title}>
              <Table.Th scope="row" fw={400}>
                {line.title}
              </Table.Th>
              {isChange && <Table.Td>{line.now}</Table.Td>}
              <Table.Td fw={line.now === line.then ? 400 : 600}>{line.then}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {isChange && <FallingLimits now={now} then={then} />}
    </>
  );
}

/** A plan that is no longer offered has no price that a page knows. */
function priceText(product: Product): string {
  const price = priceNow(product);
  return price === undefined ? 'No longer offered' : priceOf(price);
}

interface Limits {
  readonly daily: number;
  readonly monthly: number;
}

function FallingLimits({ now, then }: { readonly now: Limits; readonly then: Limits }): ReactNode {
  const falls = [
    { name: 'daily', from: now.daily, to: then.daily },
    { name: 'monthly', from: now.monthly, to: then.monthly },
  ].filter(({ from, to }) => to < from);
  if (falls.length === 0) return null;
  return (
    <Alert color="orange" mt="sm" title={falls.length > 1 ? 'Both limits fall' : `The ${falls[0]?.name ?? ''} limit falls`}>
      <List size="sm">
        {falls.map(({ name, from, to }) => (
          <List.Item key={name}>
            The {name} limit falls from {formatCount(from)} to {formatCount(to)}.
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
