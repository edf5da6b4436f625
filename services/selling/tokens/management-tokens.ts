import { type PoolClient } from 'pg';
import { type Database, inTransaction, isUuid } from '../../../plugins/stores/postgres/database';
import { generateAdminToken, hashApiKey } from '../../../plugins/core/access/api-key';
import { OperationRefused } from '../operations/operation-refused';
import { type Suspension, suspensionOf } from '../customers/suspension-view';
import { type Actor, writeAudit } from '../customers/write-audit';

/** A token of the management API as its customer sees it: never the secret. */
export interface TokenView {
  readonly id: string;
  readonly customerId: string;
  readonly name: string;
  /** `tg_admin…1a2B`. */
  readonly maskedToken: string;
  readonly scopes: readonly string[];
  readonly state: 'active' | 'expired' | 'revoked';
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Time of the last request, accurate to a minute. */
  readonly lastUsedAt: Date | null;
  /** Email address of the person who made it; null for older tokens without this record, and once the account is gone. */
  readonly madeBy: string | null;
  /** True if that person is still a member. */
  readonly isMakerHere: boolean;
}

const SELECT = `
SELECT id, customer_id AS "customerId", name, 'tg_admin…' || last_four AS "maskedToken", scopes,
  CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END AS state,
  created_at AS "createdAt", expires_at AS "expiresAt", last_used_at AS "lastUsedAt",
  (SELECT u.email FROM auth_user u WHERE u.id = made_by) AS "madeBy",
  EXISTS (SELECT FROM member m WHERE m.customer_id = admin_token.customer_id AND m.user_id = made_by) AS "isMakerHere"
FROM admin_token`;

/** Maximum tokens shown, which is more than anybody looks through. The oldest are left out. */
const MAX_SHOWN = 100;

/** One customer's tokens, those in use first, then newest first. */
export async function viewTokens(db: Database, customerId: string): Promise<TokenView[]> {
  const order = 'ORDER BY (revoked_at IS NULL AND expires_at > now()) DESC, created_at DESC, id LIMIT $2';
  const { rows } = await db.query<TokenView>(`${SELECT} WHERE customer_id = $1 ${order}`, [customerId, MAX_SHOWN]);
  return rows;
}

/** Names a token of one customer; another customer's token reads as unknown. */
interface TokenRef {
  readonly id: string;
  readonly customerId: string;
}

/** Reads a token and locks it until the transaction ends. @throws OperationRefused `token_unknown` */
async function lockToken(db: Database, { id, customerId }: TokenRef): Promise<TokenView> {
  const where = 'WHERE id = $1 AND customer_id = $2 FOR UPDATE';
  const { rows } = isUuid(id) ? await db.query<TokenView>(`${SELECT} ${where}`, [id, customerId]) : { rows: [] };
  if (!rows[0]) throw new OperationRefused('token_unknown', `there is no token "${id}"`);
  return rows[0];
}

/** The owner of a token, and its present scopes. */
export interface TokenGrant extends Pick<TokenView, 'id' | 'name' | 'scopes' | 'state' | 'customerId'> {
  /** Email address of the customer. */
  readonly email: string;
  /** The customer's suspension; null: not suspended. */
  readonly suspended: Suspension | null;
  /** False: a use within the last minute has been recorded. */
  readonly isUseNews: boolean;
}

const FIND = `
SELECT t.id, t.name, t.scopes, t.customer_id AS "customerId", c.email, ${suspensionOf('customer', 'c.id')} AS suspended,
  CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked' WHEN t.expires_at <= now() THEN 'expired' ELSE 'active' END AS state,
  COALESCE(t.last_used_at < now() - interval '1 minute', true) AS "isUseNews"
FROM admin_token t JOIN customer c ON c.id = t.customer_id WHERE t.hash = decode($1, 'hex')`;

const NOTE = `
UPDATE admin_token SET last_used_at = now()
WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`;

/** Read from the database at every request, so that a revoked token stops working at once. @param hash SHA-256, 64 lower-case hex digits */
export async function findToken(db: Database, hash: string): Promise<TokenGrant | undefined> {
  return (await db.query<TokenGrant>(FIND, [hash])).rows[0];
}

/** Records that a token was used, at most once a minute. */
export async function noteTokenUse(db: Database, id: string): Promise<void> {
  await db.query(NOTE, [id]);
}

interface CreateTokenOptions {
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

/** Maximum tokens of one customer in use: one for each program, with room to replace each. */
const MAX_TOKENS = 20;

const INSERT = `
INSERT INTO admin_token (customer_id, hash, last_four, name, scopes, expires_at, made_by)
VALUES ($1, decode($2, 'hex'), $3, $4, $5, now() + make_interval(days => $6), $7) RETURNING id`;
const COUNT = 'SELECT 1 FROM admin_token WHERE customer_id = $1 AND revoked_at IS NULL AND expires_at > now()';

/**
 * Makes a token of the management API. Runs in the caller's transaction.
 * @returns the secret, shown this once
 * @throws OperationRefused `token_limit_reached` with twenty in use
 */
export async function createToken(
  client: PoolClient,
  options: CreateTokenOptions,
): Promise<{ readonly id: string; readonly secret: string; readonly token: TokenView }> {
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
