import { type PoolClient } from 'pg';
import { type KeyDisplay } from '../../../plugins/core/access/api-key';
import { type KeyMode } from '../../../plugins/core/ports';
import { type WhitelistRule } from '../../../plugins/core/access/whitelist';
import { auditRules } from './audit-rules';
import { OperationRefused } from '../operations/operation-refused';
import { insertTags } from './key-tags';
import { insertRules } from './whitelist-rules';
import { type Actor, writeAudit } from '../customers/write-audit';

export interface NewCredential {
  readonly customerId: string;
  /** SHA-256, 64 hex digits. */
  readonly hash: string;
  readonly display: KeyDisplay;
  readonly mode: KeyMode;
  readonly name: string | null;
  readonly expiresAt: Date | null;
  readonly products: readonly string[];
  /** Tags as checkTags returns them. */
  readonly tags: readonly string[];
  readonly rules: readonly WhitelistRule[];
  readonly rotatedFrom: string | null;
}

const INSERT = `
INSERT INTO credential (customer_id, hash, prefix, last_four, mode, name, planned_expires_at, rotated_from)
VALUES ($1, decode($2, 'hex'), $3, $4, $5, $6, $7, $8) ON CONFLICT (hash) DO NOTHING RETURNING id`;

/**
 * Stores a key with its products and rules, and writes to the audit log. Runs in the caller's transaction.
 * @returns the credential's id
 * @throws OperationRefused `key_exists` if the hash is stored already
 */
export async function insertCredential(
  client: PoolClient,
  credential: NewCredential,
  { actor, action }: { actor: Actor; action: 'key.create' | 'key.import' | 'key.rotate' },
): Promise<string> {
  const { customerId, hash, display, mode, name, expiresAt, products, tags, rules, rotatedFrom } = credential;
  const values = [customerId, hash, display.prefix, display.lastFour, mode, name, expiresAt, rotatedFrom];
  const { rows } = await client.query<{ id: string }>(INSERT, values);
  const id = rows[0]?.id;
  if (id === undefined) throw new OperationRefused('key_exists', 'this key is stored already');
  await client.query('INSERT INTO credential_product (credential_id, product_id) SELECT $1, unnest($2::text[])', [id, products]);
  await insertTags(client, id, tags);
  await insertRules(client, id, rules);
  const texts = rules.map(({ text }) => text);
  const details = { customer: customerId, mode, name, expiresAt, products, tags, ...auditRules({ rules: texts }, texts), rotatedFrom };
  await writeAudit(client, { actor, action, subject: { kind: 'credential', id }, details });
  return id;
}
