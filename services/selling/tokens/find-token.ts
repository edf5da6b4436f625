import { type Suspension, suspensionOf } from '../customers/suspension-view';
import { type Database } from '../../../plugins/stores/postgres/database';

/** The owner of a token, and its present scopes. */
export interface TokenGrant {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly state: 'active' | 'expired' | 'revoked';
  readonly customerId: string;
  /** Email address of the customer. */
  readonly email: string;
  /** The customer's suspension; null: not suspended. */
  readonly suspended: Suspension | null;
  /** False: a use within the last minute has been recorded. */
  readonly isUseNews: boolean;
}

const SELECT = `
SELECT t.id, t.name, t.scopes, t.customer_id AS "customerId", c.email, ${suspensionOf('customer', 'c.id')} AS suspended,
  CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked' WHEN t.expires_at <= now() THEN 'expired' ELSE 'active' END AS state,
  COALESCE(t.last_used_at < now() - interval '1 minute', true) AS "isUseNews"
FROM admin_token t JOIN customer c ON c.id = t.customer_id WHERE t.hash = decode($1, 'hex')`;

const NOTE = `
UPDATE admin_token SET last_used_at = now()
WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`;

/** Read from the database at every request, so that a revoked token stops working at once. @param hash SHA-256, 64 lower-case hex digits */
export async function findToken(db: Database, hash: string): Promise<TokenGrant | undefined> {
  const { rows } = await db.query<TokenGrant>(SELECT, [hash]);
  return rows[0];
}

/** Records that a token was used, at most once a minute. */
export async function noteTokenUse(db: Database, id: string): Promise<void> {
  await db.query(NOTE, [id]);
}
