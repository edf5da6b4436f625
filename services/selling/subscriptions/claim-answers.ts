import { type Pool } from 'pg';
import { PLAN_REQUEST, type PlanRequestView } from './plan-request-view';

/** An answer that this process is to tell its customer by mail. */
export interface ClaimedAnswer {
  readonly request: PlanRequestView;
  /** The mail's recipient. */
  readonly to: string;
  /** Of the claim, to the microsecond, for {@link settleAnswer}. */
  readonly tellAt: string;
}

/** A mail that cannot be sent for this long is dropped: the page has shown its news. */
const TOLD_FOR_DAYS = 3;

/** A lease: if its process ends before the mail was handed over, the answer becomes due again. Delivery is at least once. */
const CLAIM = `
UPDATE plan_request SET tell_at = now() + $1 * interval '1 second'
WHERE id = (
  SELECT id FROM plan_request WHERE tell_at <= now() AND answered_at > now() - interval '${TOLD_FOR_DAYS} days'
  ORDER BY tell_at LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id, tell_at::text AS "tellAt", customer_mail_address(customer_id) AS "to"`;

/** Takes one answer that is due; undefined when there is none. @param retrySeconds until it is due again, unless it is settled */
export async function claimAnswer(db: Pool, retrySeconds: number): Promise<ClaimedAnswer | undefined> {
  const { rows: claimed } = await db.query<{ id: string; tellAt: string; to: string | null }>(CLAIM, [retrySeconds]);
  if (!claimed[0]) return undefined;
  const { id, tellAt, to } = claimed[0];
  const { rows } = await db.query<PlanRequestView>(`${PLAN_REQUEST} WHERE r.id = $1`, [id]);
  return rows[0] && { request: rows[0], tellAt, to: to ?? rows[0].customer };
}

/** The customer has been told. */
export async function settleAnswer(db: Pool, { request, tellAt }: Omit<ClaimedAnswer, 'to'>): Promise<void> {
  await db.query('UPDATE plan_request SET tell_at = NULL WHERE id = $1 AND tell_at::text = $2', [request.id, tellAt]);
}
