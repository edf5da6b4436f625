import { type PoolClient } from 'pg';
import { generateAdminToken, hashApiKey } from '../../../plugins/core/access/api-key';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { lockToken, type TokenRef, type TokenView } from './token-view';

export interface CreateTokenOptions {
  readonly customerId: string;
  readonly name: string;
  /** Scopes that the caller has checked; at least one. */
  readonly scopes: readonly string[];
  /** At most 400. */
  readonly days: number;
  /** The account of the person who makes it. */
  readonly byUserId: string;
  readonly actor: Actor;
}

export interface CreatedToken {
  readonly id: string;
  /** Shown this once. */
  readonly secret: string;
  readonly token: TokenView;
}

/** Maximum tokens of one customer in use: one for each program, with room to replace each. */
const MAX_TOKENS = 20;

const INSERT = `
INSERT INTO admin_token (customer_id, hash, last_four, name, scopes, expires_at, made_by)
VALUES ($1, decode($2, 'hex'), $3, $4, $5, now() + make_interval(days => $6), $7) RETURNING id`;
const COUNT = 'SELECT 1 FROM admin_token WHERE customer_id = $1 AND revoked_at IS NULL AND expires_at > now()';

/**
 * Makes a token of the management API. Runs in the caller's transaction.
 * @throws OperationRefused `token_limit_reached` with twenty in use
 */
export async function createToken(client: PoolClient, options: CreateTokenOptions): Promise<CreatedToken> {
  const { customerId, name, days, byUserId, actor } = options;
  const scopes = [...new Set(options.scopes)].sort();
  // Locks the customer, so that concurrent requests are counted one after the other.
  await client.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [customerId]);
  const { rowCount } = await client.query(COUNT, [customerId]);
  if ((rowCount ?? 0) >= MAX_TOKENS) {
    throw new OperationRefused('token_limit_reached', `there are ${MAX_TOKENS} tokens in use already; revoke one first`);
  }
  const secret = generateAdminToken();
  const values = [customerId, hashApiKey(secret), secret.slice(-4), name, scopes, days, byUserId];
  const { rows } = await client.query<{ id: string }>(INSERT, values);
  const id = rows[0]?.id ?? '';
  const token = await lockToken(client, { id, customerId });
  const details = { token: id, name, scopes, expiresAt: token.expiresAt };
  await writeAudit(client, { actor, action: 'token.create', subject: { kind: 'customer', id: customerId }, details });
  return { id, secret, token };
}

/**
 * Ends a token for good, from the next request on. A revoked token stays as it is.
 * @throws OperationRefused `token_unknown`
 */
export function revokeToken(db: Database, { actor, ...ref }: TokenRef & { readonly actor: Actor }): Promise<TokenView> {
  return inTransaction(db, async (client) => {
    const before = await lockToken(client, ref);
    if (before.state === 'revoked') return before;
    await client.query('UPDATE admin_token SET revoked_at = now() WHERE id = $1', [before.id]);
    const details = { token: before.id, name: before.name };
    await writeAudit(client, { actor, action: 'token.revoke', subject: { kind: 'customer', id: ref.customerId }, details });
    return { ...before, state: 'revoked' };
  });
}
