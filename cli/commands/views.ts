import { describeRate } from '../../plugins/core/access/rate';
import { type Rate } from '../../plugins/core/catalogue/catalogue';
import { planName } from '../../services/dashboard/reference/plan-name';
import { type KeyView } from '../../services/selling/keys/key-view';
import { type CustomerDetails, type CustomerSummary } from '../../services/selling/suspensions/show-customers';
import { type Suspension } from '../../services/selling/customers/suspension-view';
import { type SubscriptionView } from '../../services/selling/subscriptions/subscription-view';
import { table } from './output';

/** The part of a subscription that `key create` prints. */
export interface SubscriptionSummary {
  readonly id: string;
  readonly product: string;
  readonly plan: string | null;
  /** Limits in force: requests a day and a month. */
  readonly daily: number;
  readonly monthly: number;
  /** Absent or null: no rate limit. */
  readonly rate?: Rate | null;
  /** Present if the seller suspended it: its requests are refused. */
  readonly suspended?: Suspension;
}

export function summariseSubscription({ id, product, plan, daily, monthly, rate, suspended }: SubscriptionView): SubscriptionSummary {
  return { id, product, plan, daily, monthly, ...(rate && { rate }), ...(suspended && { suspended }) };
}

/** `2027-03-31 18:30 UTC`, or a dash. */
export function showMoment(moment: Date | null): string | null {
  return moment && `${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** `since 2027-03-31 18:30 UTC: unpaid`, or a dash. */
function showSuspension(suspended: Suspension | null): string | null {
  if (suspended === null) return null;
  return `since ${showMoment(new Date(suspended.since)) ?? ''}${suspended.reason === '' ? '' : `: ${suspended.reason}`}`;
}

/** The state of a key as one word. A suspension by the seller comes first; "revoked" and "inactive" come before "expired". */
function showState(key: KeyView): string {
  if (key.suspended !== null) return 'suspended';
  return key.state === 'active' && key.expired ? 'expired' : key.state;
}

export function showKeys(keys: readonly KeyView[]): string {
  if (keys.length === 0) return 'no keys';
  const rows = keys.map((key) => [
    key.id,
    key.maskedKey,
    key.mode,
    showState(key),
    key.products.join(','),
    showMoment(key.expiresAt),
    showMoment(key.lastUsedAt),
  ]);
  return table(['id', 'key', 'mode', 'state', 'products', 'expires', 'last used'], rows);
}

export function showKeyDetails(key: KeyView): string {
  const rows = [
    ['id', key.id],
    ['customer', key.customer],
    ['key', key.maskedKey],
    ['name', key.name],
    ['mode', key.mode],
    ['state', showState(key)],
    ['suspended', showSuspension(key.suspended)],
    ['products', key.products.join(', ')],
    ['whitelist', key.rules.length === 0 ? 'none: every caller is admitted' : key.rules.join(', ')],
    ['created', showMoment(key.createdAt)],
    ['expires', showMoment(key.expiresAt)],
    ['last used', showMoment(key.lastUsedAt)],
    ['replaces', key.rotatedFrom],
  ] as const;
  return rows.map(([title, value]) => `${title.padEnd(9)}  ${value ?? '–'}`).join('\n');
}

type ShownSubscription = Omit<SubscriptionSummary, 'suspended'> & { readonly state?: string; readonly suspended?: Suspension | null };

/** The state of a subscription. A suspension by the seller comes first. */
function showStanding({ state, suspended }: ShownSubscription): string | null {
  return suspended ? `suspended ${showSuspension(suspended)}` : (state ?? null);
}

export function showSubscriptions(subscriptions: readonly ShownSubscription[]): string {
  if (subscriptions.length === 0) return 'no subscriptions';
  const withState = subscriptions.some(({ state, suspended }) => state !== undefined || suspended);
  const withRate = subscriptions.some(({ rate }) => rate);
  const rows = subscriptions.map((each) => {
    const { id, product, plan, daily, monthly, rate } = each;
    const cells = [id, product, planName(plan), daily, monthly, ...(withRate ? [rate ? describeRate(rate) : null] : [])];
    return withState ? [...cells, showStanding(each)] : cells;
  });
  return table(
    ['subscription', 'product', 'plan', 'a day', 'a month', ...(withRate ? ['rate'] : []), ...(withState ? ['state'] : [])],
    rows,
  );
}

export function showCustomers(customers: readonly CustomerSummary[]): string {
  if (customers.length === 0) return 'no customers';
  const rows = customers.map(({ id, email, createdAt, suspended }) => [email, id, showMoment(createdAt), showSuspension(suspended)]);
  return table(['customer', 'id', 'created', 'suspended'], rows);
}

export function showCustomerDetails(customer: CustomerDetails): string {
  const rows = [
    ['customer', customer.email],
    ['id', customer.id],
    ['created', showMoment(customer.createdAt)],
    ['suspended', showSuspension(customer.suspended)],
    ['keys', String(customer.keys)],
  ] as const;
  return [...rows.map(([title, value]) => `${title.padEnd(9)}  ${value ?? '–'}`), '', showSubscriptions(customer.subscriptions)].join('\n');
}
