import { type CredentialState } from '../../../core/ports';
import { type Database, inTransaction } from '../database';
import { type KeyRef, type KeyView, lockKey } from './key-view';
import { OperationRefused } from '../operation-refused';
import { type Actor, writeAudit } from '../customers/write-audit';

const ACTIONS: Record<CredentialState, string> = { active: 'key.activate', inactive: 'key.deactivate', revoked: 'key.revoke' };

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
