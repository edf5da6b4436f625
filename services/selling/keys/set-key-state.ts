import { type AuditAction } from '../customers/audit-actions';
import { type CredentialState } from '../../../plugins/core/ports';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { checkDate } from './key-options';
import { type KeyRef, type KeyView, lockKey } from './key-view';

const ACTIONS: Record<CredentialState, AuditAction> = { active: 'key.activate', inactive: 'key.deactivate', revoked: 'key.revoke' };

/**
 * Activates, deactivates or revokes a key. A key that is in the state already is left as it is; revoked is final.
 * @throws OperationRefused `key_unknown`, `key_not_usable`
 */
export function setKeyState(db: Database, options: KeyRef & { readonly state: CredentialState; readonly actor: Actor }): Promise<KeyView> {
  const { state, actor } = options;
  return inTransaction(db, async (client) => {
    const before = await lockKey(client, options);
    if (before.state === state) return before;
    if (before.state === 'revoked') throw new OperationRefused('key_not_usable', `key "${before.id}" is revoked, and that is final`);
    await client.query('UPDATE credential SET state = $2 WHERE id = $1', [before.id, state]);
    await writeAudit(client, {
      actor,
      action: ACTIONS[state],
      subject: { kind: 'credential', id: before.id },
      details: { before: before.state },
    });
    return { ...before, state };
  });
}

/** Ends a key for good. @throws OperationRefused `key_unknown` */
export function revokeKey(db: Database, options: KeyRef & { readonly actor: Actor }): Promise<KeyView> {
  return setKeyState(db, { ...options, state: 'revoked' });
}

export interface RevokeKeysOptions {
  readonly customerId: string;
  /** UUIDs. */
  readonly ids: readonly string[];
  readonly actor: Actor;
}

/** Locks in the order of ids: two requests that revoke the same keys cannot deadlock. */
const LOCK = 'SELECT id, state FROM credential WHERE customer_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR NO KEY UPDATE';
const REVOKE = "UPDATE credential SET state = 'revoked' WHERE id = ANY ($1::uuid[])";

/**
 * Revokes several keys of one customer for good, all or none. Already revoked keys are left as they are, so a request whose response was
 * lost can be repeated.
 * @returns ids of the keys that this call revoked
 * @throws OperationRefused `key_unknown` if one of them is not the customer's
 */
export function revokeKeys(db: Database, { customerId, ids, actor }: RevokeKeysOptions): Promise<string[]> {
  return inTransaction(db, async (client) => {
    const wanted = [...new Set(ids.map((id) => id.toLowerCase()))];
    const { rows: found } = await client.query<{ id: string; state: string }>(LOCK, [customerId, wanted]);
    const missing = wanted.find((id) => !found.some((each) => each.id === id));
    if (missing !== undefined) throw new OperationRefused('key_unknown', `there is no key "${missing}"`);
    const ending = found.filter(({ state }) => state !== 'revoked');
    await client.query(REVOKE, [ending.map(({ id }) => id)]);
    for (const { id, state } of ending) {
      await writeAudit(client, { actor, action: 'key.revoke', subject: { kind: 'credential', id }, details: { before: state } });
    }
    return ending.map(({ id }) => id);
  });
}

/** Rounded down to the millisecond, so that a node that asks right afterwards sees the key as expired. */
const EXPIRE_NOW = "UPDATE credential SET planned_expires_at = date_trunc('milliseconds', now()), overlap_ends_at = NULL WHERE id = $1";
/** An expiry that a person chooses replaces that of an overlap. Parameters: the key's id, and the time or null. */
export const SET_EXPIRY = 'UPDATE credential SET planned_expires_at = $2, overlap_ends_at = NULL WHERE id = $1';

/**
 * Sets the time from which a key is refused.
 * @param options.at default: now; null lets the key live for ever again
 * @throws OperationRefused `key_unknown`, `key_not_usable` for a revoked key, `date_malformed`
 */
export function expireKey(db: Database, options: KeyRef & { readonly at?: Date | null; readonly actor: Actor }): Promise<KeyView> {
  const { at, actor } = options;
  if (at) checkDate(at);
  return inTransaction(db, async (client) => {
    const before = await lockKey(client, options);
    if (before.state === 'revoked') throw new OperationRefused('key_not_usable', `key "${before.id}" is revoked, and that is final`);
    if (at === undefined) await client.query(EXPIRE_NOW, [before.id]);
    else await client.query(SET_EXPIRY, [before.id, at]);
    const after = await lockKey(client, before);
    const details = { before: before.expiresAt, after: after.expiresAt };
    await writeAudit(client, { actor, action: 'key.expire', subject: { kind: 'credential', id: before.id }, details });
    return after;
  });
}
