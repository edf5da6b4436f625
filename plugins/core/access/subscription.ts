import { type AccessRecord, type KeyMode, type SubscriptionAccess } from '../ports';
import { type DenialCode } from '../problems';

export type AccessVerdict = { ok: true; subscription: SubscriptionAccess } | { ok: false; denial: DenialCode; suspended?: string };

/**
 * Checks 1 to 4 of the specification, in its order. A route may admit several products. The quota that is spent belongs to the first
 * product, in the route's order, that the key is authorised for and that has an active subscription. Anything that the seller suspended is
 * refused, even if the customer's own state for it is active.
 * @param record undefined when no such key exists
 * @param nowMs Unix milliseconds; a key is expired from its expiry on, that millisecond included
 */
export function checkSubscription(record: AccessRecord | undefined, products: readonly string[], nowMs: number): AccessVerdict {
  if (!record) return { ok: false, denial: 'key_unknown' };
  // A caller sees the same response as for an unknown key.
  if (record.suspended !== undefined) return { ok: false, denial: 'key_inactive', suspended: record.suspended };
  if (record.state !== 'active') return { ok: false, denial: 'key_inactive' };
  // Written as `!(now < expiry)`, so that a time that is not a number counts as expired.
  if (record.expiresAtMs !== null && !(nowMs < record.expiresAtMs)) return { ok: false, denial: 'key_expired' };
  const authorised = products.filter((product) => record.products.includes(product));
  if (authorised.length === 0) return { ok: false, denial: 'product_not_authorised' };
  let denial: DenialCode = 'subscription_missing';
  let suspended: string | undefined;
  for (const product of authorised) {
    const subscription = record.subscriptions.find((each) => each.product === product);
    if (subscription?.state === 'active' && subscription.suspended === undefined) return { ok: true, subscription };
    if (subscription) denial = 'subscription_inactive';
    suspended ??= subscription?.suspended;
  }
  return { ok: false, denial, ...(suspended === undefined ? {} : { suspended }) };
}

/** Index of the version digit in a UUID's text. */
const VERSION_PLACE = 14;
/** Neither PostgreSQL nor Tollgate creates UUIDs of a version with this bit. */
const TEST_BIT = 8;

/**
 * The id of the counter for a key's requests. Live keys count under the subscription's own id, test keys under one derived from it, so a
 * test takes nothing from the live day. `test_counter` in PostgreSQL derives the same id.
 * @param subscriptionId UUID
 */
export function counterOf(subscriptionId: string, mode: KeyMode): string {
  if (mode === 'live') return subscriptionId;
  const version = Number.parseInt(subscriptionId.charAt(VERSION_PLACE), 16) | TEST_BIT;
  return `${subscriptionId.slice(0, VERSION_PLACE)}${version.toString(16)}${subscriptionId.slice(VERSION_PLACE + 1)}`;
}
