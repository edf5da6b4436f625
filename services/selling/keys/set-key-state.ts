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
