import { type AccessRecord, type SubscriptionAccess } from '../ports';
import { type DenialCode } from '../problems';

export type AccessVerdict = { ok: true; subscription: SubscriptionAccess } | { ok: false; denial: DenialCode; suspended?: string };

/**
 * Checks 1 to 4 of the specification, in its order. A route may admit several products; the first, in the route's order, that the key
 * is authorised for and that has an active subscription is the one whose quota is spent.
 * What the provider suspended is refused whatever state its customer gave it.
 * @param record undefined when no such key exists
 * @param nowMs Unix milliseconds; a key is expired from its very moment of expiry on
 */
export function checkSubscription(record: AccessRecord | undefined, products: readonly string[], nowMs: number): AccessVerdict {
  if (!record) return { ok: false, denial: 'key_unknown' };
  // Publicly it reads as an unknown key, as one that its customer switched off.
  if (record.suspended !== undefined) return { ok: false, denial: 'key_inactive', suspended: record.suspended };
  if (record.state !== 'active') return { ok: false, denial: 'key_inactive' };
  // Not the other way round: a time that is no number must not make an expired key live.
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
