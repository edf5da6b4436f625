import { type AccessRecord, type SubscriptionAccess } from '../../../plugins/core/ports';
import { checkSubscription } from '../../../plugins/core/access/subscription';
import { compileWhitelist } from '../../../plugins/core/access/whitelist';

const subscription = (product: string, extra: Partial<SubscriptionAccess> = {}): SubscriptionAccess => ({
  id: `subscription to ${product}`,
  product,
  plan: null,
  state: 'active',
  limits: { daily: 1, monthly: 1 },
  ...extra,
});

const recordOf = (extra: Partial<AccessRecord> = {}): AccessRecord => ({
  credentialId: 'key',
  customerId: 'customer',
  mode: 'live',
  state: 'active',
  expiresAtMs: null,
  products: ['api-ip', 'api-seo'],
  whitelist: compileWhitelist([]),
  subscriptions: [subscription('api-ip'), subscription('api-seo')],
  ...extra,
});

const unpaid = (product: string, extra: Partial<SubscriptionAccess> = {}) => subscription(product, { suspended: 'unpaid', ...extra });
const inactive = { ok: false, denial: 'subscription_inactive', suspended: 'unpaid' };

it.each<[string, Partial<AccessRecord>, object]>([
  ['nothing, and the key is admitted', {}, { ok: true }],
  ['a key: refused as inactive, with the reason', { suspended: 'unpaid' }, { ok: false, denial: 'key_inactive', suspended: 'unpaid' }],
  ['a key, without a reason', { suspended: '' }, { ok: false, denial: 'key_inactive', suspended: '' }],
  ['a subscription: refused as inactive, with the reason', { subscriptions: [unpaid('api-ip')] }, inactive],
  ['a subscription, without a reason', { subscriptions: [unpaid('api-ip', { suspended: '' })] }, { ...inactive, suspended: '' }],
  ['a subscription that its customer paused', { subscriptions: [unpaid('api-ip', { state: 'paused' })] }, inactive],
  ['a subscription that its customer cancelled', { subscriptions: [unpaid('api-ip', { state: 'cancelled' })] }, inactive],
  ['another subscription than the one missed', { subscriptions: [unpaid('api-seo')] }, { ok: false, denial: 'subscription_missing' }],
])('the seller suspended %s', (_, extra, verdict) => {
  expect(checkSubscription(recordOf(extra), ['api-ip'], 1)).toMatchObject(verdict);
});

it('what the seller suspended leaves a route the other product that the key may use', () => {
  const record = recordOf({ subscriptions: [unpaid('api-ip'), subscription('api-seo')] });
  expect(checkSubscription(record, ['api-ip', 'api-seo'], 1)).toMatchObject({ ok: true, subscription: { product: 'api-seo' } });
});
