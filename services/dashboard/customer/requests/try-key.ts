import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Pool } from 'pg';
import { deriveApiKey } from '../../../../plugins/core/access/api-key';
import { ensureKey } from '../../../selling/keys/ensure-key';
import { type KeyRef } from '../../../selling/keys/key-view';
import { type Consent } from '../../../selling/subscriptions/require-consent';
import { readPropagation } from '../../../selling/keys/read-propagation';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { type SignedInCaller } from '../../http/callers';

/** A node acts on a change within a second. After that, the call is worth making anyway. */
const MAX_WAIT_MS = 1_000;
const STEP_MS = 50;

/**
 * One key for each customer, which the dashboard can always derive again. It is stored like any other key, by its hash, and never sent to a
 * page.
 * @param secret the installation's; another secret gives customers other keys
 */
export function createTryKeys(secret: string): DashboardDeps['tryKeyOf'] {
  return (customerId) => deriveApiKey('test', createHmac('sha512', secret).update(`try-key\0${customerId}`).digest());
}

async function untilNodesKnow(db: Pool, key: KeyRef): Promise<void> {
  for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += STEP_MS) {
    const { nodes } = await readPropagation(db, key);
    if (nodes.every(({ state }) => state !== 'pending')) return;
    await sleep(STEP_MS);
  }
}

interface TriedProduct {
  readonly product: string;
  /** The caller's consent to the text of the product. */
  readonly consent: Consent;
}

/**
 * The caller's key for trying a product, made or authorised when needed.
 * @throws OperationRefused `product_without_limits`, `product_not_offered`, `consent_required`, `consent_changed`, `key_not_usable`
 */
export async function prepareTryKey(
  tried: TriedProduct,
  { customerId, actor }: SignedInCaller,
  { db, tryKeyOf }: DashboardDeps,
): Promise<string> {
  const key = tryKeyOf(customerId);
  const { id, wasChanged } = await ensureKey(db, { ...tried, key, customerId, name: 'API reference', actor });
  if (wasChanged) await untilNodesKnow(db, { id, customerId });
  return key;
}
