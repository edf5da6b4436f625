import { Alert, List, Table } from '@mantine/core';
import { type ReactNode } from 'react';
import { NO_CHARGE, planName } from '../../../reference/plan-name';
import { type Product } from '../../../contract/plans';
import { formatCount, formatPrice } from '../../parts/format/numbers';
import { aboveText, countedBy, limitsText, type LimitsOfOffer, limitsUnder, type Offer, priceNow, rateText, restText } from './offers';

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

/** The present limits beside the new ones, with a warning if a limit falls. A new subscription has only the new ones. */
export function PlanComparison({ product, offer }: PlanComparisonProps): ReactNode {
  const { subscription } = product;
  const isChange = subscription !== null && subscription.state !== 'cancelled';
  const then = limitsUnder(offer, subscription);
  const now = isChange
    ? { daily: subscription.daily.limit, monthly: subscription.monthly.limit, rate: subscription.rate ?? undefined }
    : then;
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
  if (then.rate || now.rate) lines.push({ title: 'How fast', now: isChange ? paceText(now) : '', then: paceText(then) });
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

/** A plan that is no longer offered has no price that the page knows. */
function priceText(product: Product): string {
  const price = priceNow(product);
  return price === undefined ? 'No longer offered' : priceOf(price);
}

const paceText = ({ rate }: LimitsOfOffer): string => (rate ? rateText(rate) : 'Not limited');

/** True if requests may come less often, or fewer at once. */
function isSlower(then: LimitsOfOffer, now: LimitsOfOffer): boolean {
  if (!then.rate || !now.rate) return then.rate !== undefined;
  return then.rate.limit / then.rate.windowSeconds < now.rate.limit / now.rate.windowSeconds || then.rate.burst < now.rate.burst;
}

function FallingLimits({ now, then }: { readonly now: LimitsOfOffer; readonly then: LimitsOfOffer }): ReactNode {
  const counts = [
    { name: 'daily limit', from: now.daily, to: then.daily },
    { name: 'monthly limit', from: now.monthly, to: then.monthly },
  ];
  const falls = [
    ...counts.filter(({ from, to }) => to < from).map(({ name, from, to }) => ({ name, from: formatCount(from), to: formatCount(to) })),
    ...(isSlower(then, now) ? [{ name: 'rate', from: paceText(now).toLowerCase(), to: paceText(then) }] : []),
  ];
  if (falls.length === 0) return null;
  return (
    <Alert color="orange" mt="sm" title={falls.length > 1 ? 'Limits fall' : `The ${falls[0]?.name ?? ''} falls`}>
      <List size="sm">
        {falls.map(({ name, from, to }) => (
          <List.Item key={name}>
            The {name} falls from {from} to {to}.
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
