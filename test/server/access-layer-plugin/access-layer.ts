import { createProofKeys } from '../../support/proof-keys';
import { createAccessLayer } from '../../../plugins/access-layer/plugin';
import { compileWhitelist } from '../../support/compile-whitelist';
import { windowsAt } from '../../../plugins/core/access/quota';

/** Noon in Kolkata on 20 November 2026. */
const NOW_MS = Date.parse('2026-11-20T06:30:00Z');

/** The real plugin over stores that know every key, as a plugin folder of the stock server would hold it. */
const plugin = createAccessLayer({
  records: {
    findAccessRecord: () =>
      Promise.resolve({
        credentialId: 'c1',
        customerId: 'u1',
        mode: 'live' as const,
        state: 'active' as const,
        expiresAtMs: null,
        products: ['api-ip'],
        whitelist: compileWhitelist([]),
        subscriptions: [{ id: 's1', product: 'api-ip', plan: null, state: 'active' as const, limits: { daily: 10, monthly: 100 } }],
      }),
  },
  quota: {
    spend: () =>
      Promise.resolve({
        granted: true,
        exceeded: undefined,
        standing: { ...windowsAt(NOW_MS / 1000, 'Asia/Kolkata'), usedDaily: 1, usedMonthly: 1 },
      }),
    refund: () => Promise.resolve('refunded' as const),
    readStanding: () => Promise.reject(new Error('not asked for')),
  },
  decisions: { record: () => undefined },
  clock: { now: () => NOW_MS, monotonic: () => 0 },
  signContext: createProofKeys().signContext,
  readBodyFile: () => Promise.resolve(undefined),
  log: { error: () => undefined },
});

export const { Name, Version, Priority, Schema, Plugin } = plugin;
