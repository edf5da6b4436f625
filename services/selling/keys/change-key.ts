import { type PoolClient } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { checkDate, checkName, checkTags } from './key-options';
import { replaceTags } from './key-tags';
import { type KeyRef, type KeyView, lockKey } from './key-view';
import { SET_EXPIRY } from './set-key-state';
import { OperationRefused } from '../operations/operation-refused';
import { VersionConflict, versionOf } from '../operations/version';
import { type Consent } from '../subscriptions/require-consent';
import { subscribe } from '../subscriptions/subscribe';
import { requireProduct } from '../subscriptions/subscription-terms';
import { type Actor, writeAudit } from '../customers/write-audit';

export interface ChangeKeyOptions extends KeyRef {
  /** Null removes the name. */
  readonly name?: string | null | undefined;
  /** All products that the key is to be authorised for. */
  readonly products?: readonly string[] | undefined;
  /** All tags that the key is to have. */
  readonly tags?: readonly string[] | undefined;
  /** Subscribes the customer to new products without a subscription, as when a key is made. Otherwise they are refused. */
  readonly subscribes?: boolean;
  /** Null removes the expiry. */
  readonly expiresAt?: Date | null | undefined;
  /** See `SubscribeOptions`. */
  readonly keepsLimits?: boolean;
  readonly consent?: Consent;
  readonly actor: Actor;
}

const SUBSCRIBED = `
SELECT product_id AS product FROM subscription WHERE customer_id = $1 AND product_id = ANY ($2) AND state <> 'cancelled'`;

function wantedFields(before: KeyView, options: ChangeKeyOptions): Pick<KeyView, 'name' | 'expiresAt' | 'products' | 'tags'> {
  const { name, expiresAt } = options;
  const products = options.products && [...new Set(options.products)].sort();
  if (products?.length === 0) throw new OperationRefused('product_missing', 'a key needs at least one product');
  return {
    name: name === undefined ? before.name : name === null ? null : checkName(name),
    expiresAt: expiresAt === undefined ? before.expiresAt : expiresAt === null ? null : checkDate(expiresAt),
    products: products ?? before.products,
    tags: options.tags ? checkTags(options.tags) : before.tags,
  };
}

async function replaceProducts(
  client: PoolClient,
  before: KeyView,
  products: readonly string[],
  { actor, keepsLimits, consent, subscribes = false }: ChangeKeyOptions,
): Promise<void> {
  const { customerId } = before;
  const added = products.filter((product) => !before.products.includes(product));
  if (!subscribes) await requireSubscriptions(client, customerId, added);
  for (const product of added) await subscribe(client, { customerId, product, actor, keepsLimits, consent, whenSubscribed: 'join' });
  await client.query('DELETE FROM credential_product WHERE credential_id = $1 AND product_id <> ALL ($2)', [before.id, products]);
  await client.query('INSERT INTO credential_product (credential_id, product_id) SELECT $1, unnest($2::text[])', [before.id, added]);
}

/** A key never subscribes a customer to a product. @throws OperationRefused `subscription_needed`, `product_unknown` */
async function requireSubscriptions(client: PoolClient, customerId: string, products: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ product: string }>(SUBSCRIBED, [customerId, products]);
  const missing = products.filter((product) => !rows.some((row) => row.product === product));
  for (const product of missing) await requireProduct(client, product);
  if (missing.length === 0) return;
  throw new OperationRefused('subscription_needed', `there is no subscription to ${missing.join(', ')}`);
}

/**
 * Changes name, products, tags or expiry of a key; absent members stay. A change to the present values changes nothing.
 * @throws OperationRefused `key_unknown`, `key_not_usable` for a revoked key, `name_malformed`, `tag_malformed`, `date_malformed`,
 * `product_missing`, `product_unknown`, `product_without_limits`, `product_not_offered`, `subscription_needed`, `consent_required`,
 * `consent_changed`
 */
export function changeKey(db: Database, options: ChangeKeyOptions): Promise<KeyView> {
  return inTransaction(db, async (client) => {
    const before = await lockKey(client, options);
    if (before.state === 'revoked') throw new OperationRefused('key_not_usable', `key "${before.id}" is revoked, and that is final`);
    const { name, expiresAt, products, tags } = wantedFields(before, options);
    await client.query('UPDATE credential SET name = $2 WHERE id = $1', [before.id, name]);
    if (expiresAt?.getTime() !== before.expiresAt?.getTime()) await client.query(SET_EXPIRY, [before.id, expiresAt]);
    await replaceProducts(client, before, products, options);
    if (options.tags) await replaceTags(client, before.id, tags);
    const after = await lockKey(client, before);
    const shown = (key: KeyView): unknown => ({ name: key.name, expiresAt: key.expiresAt, products: key.products, tags: key.tags });
    const details = { before: shown(before), after: shown(after) };
    if (JSON.stringify(details.before) === JSON.stringify(details.after)) return after;
    await writeAudit(client, { actor: options.actor, action: 'key.change', subject: { kind: 'credential', id: before.id }, details });
    return after;
  });
}

/** Changes with everything that a person can change on a key, but not with its use. */
export function keyVersion({ name, state, expiresAt, products, tags, rules }: KeyView): string {
  return versionOf([name, state, expiresAt, products, tags, rules]);
}

export class KeyChanged extends VersionConflict {
  /** @param current the key as it is now */
  constructor(readonly current: KeyView) {
    super();
  }
}

/**
 * Runs a change of a key only when the key is still as the caller saw it. The key stays locked until the change has committed: of two
 * people who saw the same version, one gets a conflict.
 * @param work other operations on the given client, which is in the transaction
 * @throws KeyChanged; OperationRefused `key_unknown`; what `work` throws
 */
export function changeKeyOptimistically<T>(
  db: Database,
  key: KeyRef & { readonly version: string },
  work: (client: PoolClient, before: KeyView) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (client) => {
    const before = await lockKey(client, key);
    if (keyVersion(before) !== key.version) throw new KeyChanged(before);
    return work(client, before);
  });
}
