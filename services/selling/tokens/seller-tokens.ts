import { type PoolClient } from 'pg';
import { generateSellerToken, hashApiKey } from '../../../plugins/core/access/api-key';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';

/** A token of the seller's API as operators see it: never the secret. */
export interface SellerToken {
  readonly id: string;
  readonly name: string;
  /** `tg_seller…1a2B`. */
  readonly maskedToken: string;
  readonly scopes: readonly string[];
  /** A token is revoked when its maker is no longer an operator. */
  readonly state: 'active' | 'expired' | 'revoked';
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Time of the last request, accurate to a minute. */
  readonly lastUsedAt: Date | null;
  /** Email address of the operator who made it. */
  readonly madeBy: string;
}

/** The grant of the token in a request. */
export interface SellerGrant extends SellerToken {
  readonly operatorId: string;
  /** False: a use within the last minute has been recorded. */
  readonly isUseNews: boolean;
}

const STATE =
  "CASE WHEN revoked_at IS NOT NULL OR made_by IS NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END";
const COLUMNS = `id, name, 'tg_seller…' || last_four AS "maskedToken", scopes, ${STATE} AS state, created_at AS "createdAt",
  expires_at AS "expiresAt", last_used_at AS "lastUsedAt", maker AS "madeBy"`;

/** Maximum tokens in use, of all operators together. */
const MAX_TOKENS = 20;
/** Maximum tokens shown, which is more than anybody looks through. The oldest are left out. */
const MAX_SHOWN = 100;

const VIEW = `SELECT ${COLUMNS} FROM seller_token ORDER BY (${STATE} = 'active') DESC, created_at DESC, id LIMIT ${MAX_SHOWN}`;

/** Tokens in use first, then newest first. */
export async function viewSellerTokens(db: Database): Promise<SellerToken[]> {
  return (await db.query<SellerToken>(VIEW)).rows;
}

const FIND = `
SELECT ${COLUMNS}, made_by AS "operatorId", COALESCE(last_used_at < now() - interval '1 minute', true) AS "isUseNews"
FROM seller_token WHERE hash = decode($1, 'hex')`;
const NOTE = `
UPDATE seller_token SET last_used_at = now()
WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`;

/** Read from the database at every request, so that a revoked token stops working at once. @param hash SHA-256, 64 lower-case hex digits */
export async function findSellerToken(db: Database, hash: string): Promise<SellerGrant | undefined> {
  return (await db.query<SellerGrant>(FIND, [hash])).rows[0];
}

/** Records that a token was used, at most once a minute. */
export async function noteSellerTokenUse(db: Database, id: string): Promise<void> {
  await db.query(NOTE, [id]);
}

export interface CreateSellerTokenOptions {
  readonly name: string;
  /** Scopes that the caller has checked; at least one. */
  readonly scopes: readonly string[];
  /** At most 400. */
  readonly days: number;
  readonly operator: { readonly id: string; readonly email: string };
  readonly actor: Actor;
}

const LOCK = 720_260_371;
const INSERT = `
INSERT INTO seller_token (hash, last_four, name, scopes, expires_at, made_by, maker)
VALUES (decode($1, 'hex'), $2, $3, $4, now() + make_interval(days => $5), $6, $7) RETURNING ${COLUMNS}`;

/**
 * Makes a token of the seller's API. Runs in the caller's transaction.
 * @returns the secret, shown this once
 * @throws OperationRefused `token_limit_reached` with twenty in use
 */
export async function createSellerToken(
  client: PoolClient,
  { name, days, operator, actor, ...options }: CreateSellerTokenOptions,
): Promise<{ readonly id: string; readonly secret: string; readonly token: SellerToken }> {
  const scopes = [...new Set(options.scopes)].sort();
  // Concurrent requests are counted one after the other.
  await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
  const { rowCount } = await client.query(`SELECT 1 FROM seller_token WHERE ${STATE} = 'active'`);
  if ((rowCount ?? 0) >= MAX_TOKENS) {
    throw new OperationRefused('token_limit_reached', `there are ${MAX_TOKENS} tokens in use already; revoke one first`);
  }
  const secret = generateSellerToken();
  const values = [hashApiKey(secret), secret.slice(-4), name, scopes, days, operator.id, operator.email];
  const [token] = (await client.query<SellerToken>(INSERT, values)).rows;
  if (!token) throw new Error('the token was not stored');
  const details = { name, scopes, expiresAt: token.expiresAt };
  await writeAudit(client, { actor, action: 'operator.token_create', subject: { kind: 'operator', id: operator.id }, details });
  return { id: token.id, secret, token };
}

/** Ends a token for good, from the next request on; an ended token stays as it is. @throws OperationRefused `token_unknown` */
export function revokeSellerToken(
  db: Database,
  { id, operatorId, actor }: { readonly id: string; readonly operatorId: string; readonly actor: Actor },
): Promise<SellerToken> {
  return inTransaction(db, async (client) => {
    const found = await client.query<SellerToken>(`SELECT ${COLUMNS} FROM seller_token WHERE id = $1 FOR UPDATE`, [id]);
    const before = found.rows[0];
    if (!before) throw new OperationRefused('token_unknown', `there is no token "${id}"`);
    if (before.state === 'revoked') return before;
    await client.query('UPDATE seller_token SET revoked_at = now() WHERE id = $1', [id]);
    const details = { name: before.name };
    await writeAudit(client, { actor, action: 'operator.token_revoke', subject: { kind: 'operator', id: operatorId }, details });
    return { ...before, state: 'revoked' };
  });
}
