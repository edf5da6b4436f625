import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';

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
export interface TokenRef {
  readonly id: string;
  readonly customerId: string;
}

/** Reads a token and locks it until the transaction ends. @throws OperationRefused `token_unknown` */
export async function lockToken(db: Database, { id, customerId }: TokenRef): Promise<TokenView> {
  const where = 'WHERE id = $1 AND customer_id = $2 FOR UPDATE';
  const { rows } = isUuid(id) ? await db.query<TokenView>(`${SELECT} ${where}`, [id, customerId]) : { rows: [] };
  if (!rows[0]) throw new OperationRefused('token_unknown', `there is no token "${id}"`);
  return rows[0];
}
