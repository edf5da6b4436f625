import { displayOf, generateApiKey, hashApiKey } from '../../../plugins/core/access/api-key';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { requireRoom } from '../customers/customer-limits';
import { insertCredential } from './insert-credential';
import { type CreatedKey } from './create-key';
import { type KeyRef, type KeyView, lockKey } from './key-view';
import { OperationRefused } from '../operations/operation-refused';
import { viewSubscriptions } from '../subscriptions/subscription-view';
import { parseRules } from './whitelist-rules';
import { type Actor, writeAudit } from '../customers/write-audit';

/** Longer than anybody needs to roll out a key; it also keeps the arithmetic inside PostgreSQL's range. */
const MAX_OVERLAP_MS = 366 * 86_400_000;

export interface RotatedKey extends CreatedKey {
  readonly rotatedFrom: string;
  /** When the old key ends; null if it ended with this call. */
  readonly oldKeyEndsAt: Date | null;
}

function checkRotatable(key: KeyView): void {
  const isSuspended = key.suspended !== null;
  if (isSuspended) throw new OperationRefused('key_not_usable', `key "${key.id}" is suspended by the seller and cannot be rotated`);
  const reason = key.state !== 'active' ? key.state : key.expired ? 'expired' : undefined;
  if (reason !== undefined)
    throw new OperationRefused('key_not_usable', `key "${key.id}" is ${reason} and cannot be rotated; create a new one`);
}

/** The expiry that a person gave the key. An earlier rotation may end it sooner. */
const PLANNED = 'SELECT planned_expires_at AS "expiresAt" FROM credential WHERE id = $1';
const OVERLAP = `
UPDATE credential SET overlap_ends_at = date_trunc('milliseconds', now()) + $2 * interval '1 millisecond'
WHERE id = $1 RETURNING expires_at AS at`;

/**
 * Replaces a key by a new one with the same products, tags, rules, mode, name and expiry. Counts stay, since they belong to subscriptions.
 * A key can be rotated again during an overlap: the new key gets the end that a person planned, and the last overlap counts for the old one.
 * @param options.overlapMs how long the old key keeps working beside the new one; without it the old key is revoked at once
 * @throws OperationRefused `key_unknown`, `key_not_usable`, `date_malformed`; with an overlap `key_limit_reached`, `rule_limit_reached`
 */
export function rotateKey(db: Database, options: KeyRef & { readonly overlapMs?: number; readonly actor: Actor }): Promise<RotatedKey> {
  const { overlapMs = 0, actor } = options;
  if (!(overlapMs >= 0 && overlapMs <= MAX_OVERLAP_MS)) {
    throw new OperationRefused('date_malformed', 'the overlap must be between 0 and 366 days');
  }
  return inTransaction(db, async (client) => {
    const old = await lockKey(client, options);
    checkRotatable(old);
    const key = generateApiKey(old.mode);
    const { customerId, mode, name, products, tags } = old;
    const planned = await client.query<{ expiresAt: Date | null }>(PLANNED, [old.id]);
    const rules = parseRules(old.rules);
    // Without an overlap the new key replaces the old one, so the customer has no more than before.
    if (overlapMs > 0) await requireRoom(client, customerId, { keys: 1, rules: rules.length });
    const credential = {
      customerId,
      mode,
      name,
      expiresAt: planned.rows[0]?.expiresAt ?? null,
      products,
      tags,
      rules,
      hash: hashApiKey(key),
      display: displayOf(key),
      rotatedFrom: old.id,
    };
    const id = await insertCredential(client, credential, { actor, action: 'key.rotate' });
    let oldKeyEndsAt: Date | null = null;
    if (overlapMs > 0) {
      const { rows } = await client.query<{ at: Date }>(OVERLAP, [old.id, Math.round(overlapMs)]);
      oldKeyEndsAt = rows[0]?.at ?? null;
    } else {
      await client.query("UPDATE credential SET state = 'revoked' WHERE id = $1", [old.id]);
    }
    const details = { rotatedTo: id, endsAt: oldKeyEndsAt ?? 'now' };
    await writeAudit(client, { actor, action: 'key.rotated', subject: { kind: 'credential', id: old.id }, details });
    const subscriptions = await viewSubscriptions(client, customerId);
    return { key, id, rotatedFrom: old.id, oldKeyEndsAt, subscriptions: subscriptions.filter(({ product }) => products.includes(product)) };
  });
}
