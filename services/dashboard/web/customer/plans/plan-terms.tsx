import { Alert, Checkbox, List, Table } from '@mantine/core';
import { type ReactNode } from 'react';
import { opensLess, opensNothing, routeText } from '../../../reference/live-routes';
import { NO_CHARGE, planName } from '../../../reference/plan-name';
import { type Product } from '../../../contract/plans';
import { formatCount, formatPrice } from '../../parts/format/numbers';
import {
  aboveText,
  countedBy,
  type LimitsOfOffer,
  limitsText,
  limitsUnder,
  type Offer,
  openedOf,
  priceNow,
  rateText,
  restText,
} from './offers';

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

interface PlanTermsProps {
  readonly product: Product;
  readonly offer: Offer;
}

/** Says what a live key gets from each route today, if that is not everything, whatever is paid. */
export function SourceNotice({ product }: Pick<PlanTermsProps, 'product'>): ReactNode {
  const opened = openedOf(product);
  if (opened === undefined || !opensLess(opened)) return null;
  const isNothing = opensNothing(opened);
  return (
    <Alert color="orange" mt="sm" title={isNothing ? 'Live keys open nothing today' : 'Live keys open a part today'}>
      {opened.routes.length > 0 && (
        <List size="sm" aria-label="What a live key opens today">
          {opened.routes.map((route) => (
            <List.Item key={route.path}>
              <code>{route.path}</code>: {routeText(route)}
            </List.Item>
          ))}
        </List>
      )}
      {!opened.isThere && 'The seller has no live source yet. Calls with a test key get sample answers. '}
      The price counts all the same.
    </Alert>
  );
}

interface UnderstoodChoiceProps {
  /** The text to be confirmed; null if there is none. */
  readonly text: string | null;
  readonly isUnderstood: boolean;
  readonly onChange: (isUnderstood: boolean) => void;
}

/** The box that must be ticked before paying for a plan that opens nothing. */
export function UnderstoodChoice({ text, isUnderstood, onChange }: UnderstoodChoiceProps): ReactNode {
  if (text === null) return null;
  return (
    <Checkbox
      mt="sm"
      label="I understand that live keys open nothing of this product today, and that the price is charged all the same"
      checked={isUnderstood}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

/** When the change takes effect, and how it is charged: as `services/selling/statements/statement.ts` does it. */
export function PlanTerms({ product: { subscription }, offer }: PlanTermsProps): ReactNode {
  const isChange = subscription !== null && subscription.state !== 'cancelled';
  if (offer.isPaidFirst)
    return (
      <PaidTerms hasOverage={offer.overage !== undefined} isChange={isChange}>
        <OwnTermsNotes subscription={subscription} />
      </PaidTerms>
    );
  const isCharged = offer.price !== null || (isChange && subscription.plan !== null);
  return (
    <List size="sm" spacing={4} mt="sm">
      <List.Item>{whenItCounts(offer, isChange)}</List.Item>
      {isCharged && (
        <List.Item>
          Charged by the day: each day on a plan costs its share of the monthly price. On a day with two plans, the dearer one counts. A day
          pays for a thirtieth of the monthly limit; if you used more when you pause, cancel or change, the rest is charged as well.
        </List.Item>
      )}
      {offer.overage && <List.Item>What you use above what is included is on the statement of its month.</List.Item>}
      <OwnTermsNotes subscription={subscription} />
    </List>
  );
}

/** What happens to the customer's own terms, as items of a list. */
export function OwnTermsNotes({ subscription }: Pick<Product, 'subscription'>): ReactNode {
  if (subscription === null || subscription.state === 'cancelled') return null;
  return (
    <>
      {subscription.hasOwnLimits && (
        <List.Item>
          Your own limits are for {planName(subscription.plan)}: they do not come along, and count again if you come back.
        </List.Item>
      )}
      {subscription.ownPrice !== null && <List.Item>Your own price ends with the plan that you leave.</List.Item>}
      {subscription.dailyCap !== null && <List.Item>Your own daily cap stays.</List.Item>}
    </>
  );
}

interface PaidTermsProps {
  readonly isChange: boolean;
  readonly hasOverage: boolean;
  /** Further items. */
  readonly children: ReactNode;
}

/** Terms of a plan that begins when it is paid. */
function PaidTerms({ isChange, hasOverage, children }: PaidTermsProps): ReactNode {
  return (
    <List size="sm" spacing={4} mt="sm">
      <List.Item>
        You pay on the page of the payment provider. The plan begins when the payment has arrived, within seconds as a rule; until then{' '}
        {isChange ? 'what you have goes on' : 'nothing changes'}.
      </List.Item>
      <List.Item>
        That page says what is charged now. From then on the price is charged each month in advance, until you cancel the plan under
        Billing.
      </List.Item>
      {hasOverage && <List.Item>What you use above what is included is charged after the month, with the next payment.</List.Item>}
      {isChange && <List.Item>What you used today and this month still counts.</List.Item>}
      {children}
    </List>
  );
}

function whenItCounts({ needsApproval }: Offer, isChange: boolean): string {
  const kept = isChange ? ' What you used today and this month still counts.' : '';
  if (!needsApproval) return `Counts from the next request.${kept}`;
  const meanwhile = isChange ? 'your current plan goes on' : 'nothing changes';
  return `The seller answers your request, and you are told by email; until then ${meanwhile}. It counts from the moment it is approved.${kept}`;
}
