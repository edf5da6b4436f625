import { type AccessRecord, type SubscriptionAccess } from '../../../plugins/core/ports';
import { checkSubscription } from '../../../plugins/core/access/subscription';
import { compileWhitelist } from '../../support/compile-whitelist';

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

const check = (record: AccessRecord, products = ['api-ip']): unknown => checkSubscription(record, products, 1);

describe('what the provider suspended', () => {
  it('is refused, a key as an inactive one and a subscription as an inactive one, with the reason', () => {
    expect(check(recordOf())).toMatchObject({ ok: true });
    expect(check(recordOf({ suspended: 'unpaid' }))).toEqual({ ok: false, denial: 'key_inactive', suspended: 'unpaid' });
    const unpaid = recordOf({ subscriptions: [subscription('api-ip', { suspended: 'unpaid' })] });
    expect(check(unpaid)).toEqual({ ok: false, denial: 'subscription_inactive', suspended: 'unpaid' });
  });

  it('is refused without a reason too', () => {
    expect(check(recordOf({ suspended: '' }))).toEqual({ ok: false, denial: 'key_inactive', suspended: '' });
    const silent = recordOf({ subscriptions: [subscription('api-ip', { suspended: '' })] });
    expect(check(silent)).toEqual({ ok: false, denial: 'subscription_inactive', suspended: '' });
  });

  it.each(['active', 'paused', 'cancelled'] as const)('stays refused whatever state its customer gives it: %s', (state) => {
    const record = recordOf({ subscriptions: [subscription('api-ip', { state, suspended: 'unpaid' })] });
    expect(check(record)).toEqual({ ok: false, denial: 'subscription_inactive', suspended: 'unpaid' });
  });

  it('leaves a route the other product that the key may use', () => {
    const record = recordOf({ subscriptions: [subscription('api-ip', { suspended: 'unpaid' }), subscription('api-seo')] });
    expect(check(record, ['api-ip', 'api-seo'])).toMatchObject({ ok: true, subscription: { product: 'api-seo' } });
  });

  it('is no reason for a refusal that has another', () => {
    const record = recordOf({ subscriptions: [subscription('api-seo', { suspended: 'unpaid' })] });
    expect(check(record)).toEqual({ ok: false, denial: 'subscription_missing' });
  });
});
