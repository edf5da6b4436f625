import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';

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
