import { type CredentialState, type KeyMode } from '../../../plugins/core/ports';
import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { type Suspension, suspensionOf } from '../customers/suspension-view';
import { requireCustomer } from '../customers/find-customer';
import { OperationRefused } from '../operations/operation-refused';
import { type SubscriptionView, viewSubscriptions } from '../subscriptions/subscription-view';

/** The other key of a rotation. */
export interface RotationPartner {
  readonly id: string;
  /** `tg_live…1a2B`. */
  readonly maskedKey: string;
  /** False once it was revoked or has expired. */
  readonly works: boolean;
  /** ISO 8601. */
  readonly expiresAt: string | null;
}

/** A key as people see it after it was made: never the secret. */
export interface KeyView {
  readonly id: string;
  readonly customerId: string;
  /** Email address. */
  readonly customer: string;
  readonly name: string | null;
  /** `tg_live…1a2B`. */
  readonly maskedKey: string;
  readonly mode: KeyMode;
  readonly state: CredentialState;
  readonly suspended: Suspension | null;
  /** True from the expiry on. */
  readonly expired: boolean;
  readonly expiresAt: Date | null;
  readonly products: readonly string[];
  /** The customer's own labels for it, in order. */
  readonly tags: readonly string[];
  /** Whitelist rules in canonical text; a key without rules admits every caller. */
  readonly rules: readonly string[];
  readonly createdAt: Date;
  /** The last admitted request, accurate to 5 s. */
  readonly lastUsedAt: Date | null;
  readonly rotatedFrom: string | null;
  /** The key that this one replaced, as it is now. */
  readonly replaces: RotationPartner | null;
  /** The key that replaced this one; the latest when it was rotated more than once. */
  readonly replacedBy: RotationPartner | null;
}

/** A key in lists: without its rules, of which it may have a thousand, and without what needs a look at other keys. */
export type KeySummary = Omit<KeyView, 'rules' | 'replaces' | 'replacedBy'>;

/** For credential `k` of customer `c`. */
export const KEY_SUMMARY_COLUMNS = `
k.id, k.customer_id AS "customerId", c.email AS customer, k.name, k.prefix || '…' || k.last_four AS "maskedKey", k.mode, k.state,
  ${suspensionOf('credential', 'k.id')} AS suspended,
  COALESCE(k.expires_at <= now(), false) AS expired, k.expires_at AS "expiresAt",
  ARRAY(SELECT product_id FROM credential_product WHERE credential_id = k.id ORDER BY product_id) AS products,
  ARRAY(SELECT tag FROM credential_tag WHERE credential_id = k.id ORDER BY tag COLLATE "C") AS tags,
  k.created_at AS "createdAt", k.last_used_at AS "lastUsedAt", k.rotated_from AS "rotatedFrom"`;

/** The partner of one row `o`, or null. */
const partnerWhere = (condition: string): string => `
  (SELECT json_build_object('id', o.id, 'maskedKey', o.prefix || '…' || o.last_four,
     'expiresAt', to_char(o.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
     'works', o.state = 'active' AND (o.expires_at IS NULL OR o.expires_at > now()))
   FROM credential o WHERE ${condition} ORDER BY o.created_at DESC, o.id LIMIT 1)`;

const KEY_COLUMNS = `${KEY_SUMMARY_COLUMNS},
  ${partnerWhere('o.id = k.rotated_from')} AS replaces, ${partnerWhere('o.rotated_from = k.id')} AS "replacedBy",
  ARRAY(SELECT rule FROM whitelist_rule WHERE credential_id = k.id ORDER BY kind, rule) AS rules`;

const SELECT = `SELECT ${KEY_COLUMNS} FROM credential k JOIN customer c ON c.id = k.customer_id`;

/** One customer's keys, newest first. */
export async function viewKeys(db: Database, customerId: string): Promise<KeyView[]> {
  const { rows } = await db.query<KeyView>(`${SELECT} WHERE k.customer_id = $1 ORDER BY k.created_at DESC, k.id`, [customerId]);
  return rows;
}

/** Names a key; with `customerId` only among that customer's, so that another's reads as unknown. */
export interface KeyRef {
  readonly id: string;
  readonly customerId?: string;
}

/** @throws OperationRefused `key_unknown` */
export async function viewKey(db: Database, { id, customerId }: KeyRef): Promise<KeyView> {
  const where = 'WHERE k.id = $1 AND ($2::uuid IS NULL OR k.customer_id = $2)';
  const { rows } = isUuid(id) ? await db.query<KeyView>(`${SELECT} ${where}`, [id, customerId ?? null]) : { rows: [] };
  if (!rows[0]) throw new OperationRefused('key_unknown', `there is no key "${id}"`);
  return rows[0];
}

/**
 * Locks a key until the transaction ends, then reads it in a second statement: a single one would show rules and products from before the
 * wait. The lock leaves the id free, so a node that records the key's requests never waits for it, not even for a transaction that was cut
 * off.
 * @throws OperationRefused `key_unknown`
 */
export async function lockKey(db: Database, key: KeyRef): Promise<KeyView> {
  if (isUuid(key.id)) await db.query('SELECT 1 FROM credential WHERE id = $1 FOR NO KEY UPDATE', [key.id]);
  return viewKey(db, key);
}

/**
 * A customer's keys in any state, newest first.
 * @param options.customer email address or id
 * @throws OperationRefused `customer_unknown`
 */
export async function listKeys(db: Database, { customer }: { customer: string }): Promise<KeyView[]> {
  const { id } = await requireCustomer(db, customer);
  return viewKeys(db, id);
}

export interface KeyDetails extends KeyView {
  /** The customer's subscriptions to the key's products. */
  readonly subscriptions: readonly SubscriptionView[];
}

/** @throws OperationRefused `key_unknown` */
export async function showKey(db: Database, key: KeyRef): Promise<KeyDetails> {
  const view = await viewKey(db, key);
  const subscriptions = await viewSubscriptions(db, view.customerId);
  return { ...view, subscriptions: subscriptions.filter(({ product }) => view.products.includes(product)) };
}
