import { type Pool } from 'pg';
import { type OutageView } from './list-outages';

/** Operators are to be told of an outage, by this process. */
export interface ClaimedOutageMail {
  readonly outage: OutageView;
  /** Addresses of all operators; may be empty. */
  readonly to: readonly string[];
  /** Of the claim, to the microsecond, for {@link settleOutageMail}. */
  readonly mailAt: string;
}

/** A lease: if its process ends before the mail was handed over, it becomes due again. A mail that cannot be sent for a day is dropped. */
const CLAIM = `
WITH claimed AS (
  UPDATE product_outage SET mail_at = now() + $1 * interval '1 second'
  WHERE id = (
    SELECT id FROM product_outage WHERE mail_at <= now() AND COALESCE(ended_at, now()) > now() - interval '1 day'
    ORDER BY mail_at LIMIT 1 FOR UPDATE SKIP LOCKED
  )
  RETURNING *
)
SELECT o.id, o.product_id AS product, p.title, o.began_at AS "beganAt", o.ended_at AS "endedAt", o.answered::float8 AS answered,
  o.failed::float8 AS failed, o.mail_at::text AS "mailAt",
  ARRAY(SELECT u.email FROM operator JOIN auth_user u ON u.id = operator.user_id ORDER BY 1) AS to
FROM claimed o JOIN product p ON p.id = o.product_id`;

type Row = OutageView & Pick<ClaimedOutageMail, 'to' | 'mailAt'>;

/** Takes one mail that is due; undefined when there is none. @param retrySeconds until it is due again, unless it is settled */
export async function claimOutageMail(db: Pool, retrySeconds: number): Promise<ClaimedOutageMail | undefined> {
  const { rows } = await db.query<Row>(CLAIM, [retrySeconds]);
  if (!rows[0]) return undefined;
  const { to, mailAt, ...outage } = rows[0];
  return { outage, to, mailAt };
}

/** Operators have been told. The end of the outage, if it came meanwhile, is still to be told. */
export async function settleOutageMail(db: Pool, { outage, mailAt }: Omit<ClaimedOutageMail, 'to'>): Promise<void> {
  await db.query('UPDATE product_outage SET mail_at = NULL WHERE id = $1 AND mail_at::text = $2', [outage.id, mailAt]);
}
