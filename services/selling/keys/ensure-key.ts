import { displayOf, hashApiKey } from '../../../plugins/core/access/api-key';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { requireCustomer } from '../customers/find-customer';
import { type Actor } from '../customers/write-audit';
import { changeKey } from './change-key';
import { issueKey } from './issue-key';
import { type Consent } from '../subscriptions/require-consent';
import { viewKey } from './key-view';

export interface EnsureKeyOptions {
  /** The secret of a test key, which its owner can derive again; only its hash is stored. */
  readonly key: string;
  readonly customerId: string;
  readonly product: string;
  readonly name: string;
  readonly actor: Actor;
  /** Whether the actor gives the consent that the product asks for. */
  readonly consent: Consent;
}

const FIND = "SELECT id FROM credential WHERE hash = decode($1, 'hex') AND customer_id = $2";

/**
 * Makes sure that a test key exists and is authorised for a product, to which its customer is subscribed if needed. Concurrent requests
 * make one key.
 * @returns its id, and whether it existed and was changed: nodes may then act briefly on what they knew
 * @throws OperationRefused `customer_unknown`, `product_unknown`, `product_without_limits`, `product_not_offered`, `key_not_usable` if it
 * was revoked, `consent_required` or `consent_changed` for a product that needs a consent first
 */
export function ensureKey(db: Database, options: EnsureKeyOptions): Promise<{ readonly id: string; readonly wasChanged: boolean }> {
  const { key, customerId, product, name, actor, consent } = options;
  return inTransaction(db, async (client) => {
    await requireCustomer(client, customerId);
    await client.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [customerId]);
    const hash = hashApiKey(key);
    const { rows } = await client.query<{ id: string }>(FIND, [hash, customerId]);
    const id = rows[0]?.id;
    if (id === undefined) {
      const secret = { hash, display: displayOf(key), mode: 'test' } as const;
      const made = await issueKey(client, {
        customer: customerId,
        products: [product],
        name,
        actor,
        keepsLimits: true,
        consent,
        secret,
        action: 'key.create',
      });
      return { id: made.id, wasChanged: false };
    }
    const { products } = await viewKey(client, { id, customerId });
    if (products.includes(product)) return { id, wasChanged: false };
    await changeKey(client, {
      id,
      customerId,
      products: [...products, product],
      subscribes: true,
      keepsLimits: true,
      consent,
      actor,
    });
    return { id, wasChanged: true };
  });
}
