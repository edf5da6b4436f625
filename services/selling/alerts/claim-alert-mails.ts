import { type Pool } from 'pg';
import { ALERT_COLUMNS, ALERT_JOINS, type AlertView } from '../webhooks/alert-view';

/** One mail that is this process's to send, once. */
export interface ClaimedAlertMail {
  readonly customerId: string;
  readonly email: string;
  /** Oldest first; never empty. */
  readonly alerts: readonly AlertView[];
}

/** What is older says nothing any more: mail could not be sent for that long. */
const STALE = "interval '1 day'";
const MAX_CUSTOMERS = 20;
const MAX_ALERTS = 100;

/** Of two processes that see the same customer, the second waits for the first and then finds the hour not over. */
const CLAIM = `
WITH due AS (
  SELECT DISTINCT a.customer_id FROM alert a
  WHERE a.is_mail_due AND a.at > now() - ${STALE}
    AND NOT EXISTS (SELECT 1 FROM alert_mail m WHERE m.customer_id = a.customer_id AND m.claimed_at > now() - interval '1 hour')
  ORDER BY a.customer_id LIMIT ${MAX_CUSTOMERS}
)
INSERT INTO alert_mail AS known (customer_id, claimed_at) SELECT customer_id, now() FROM due
ON CONFLICT (customer_id) DO UPDATE SET claimed_at = excluded.claimed_at WHERE known.claimed_at <= now() - interval '1 hour'
RETURNING customer_id AS "customerId", 
  COALESCE(customer_mail_address(known.customer_id), (SELECT email FROM customer WHERE id = known.customer_id)) AS email`;

const ALERTS = `
SELECT ${ALERT_COLUMNS} FROM alert a ${ALERT_JOINS}
WHERE a.customer_id = $1 AND a.is_mail_due AND a.at > now() - ${STALE} ORDER BY a.number LIMIT ${MAX_ALERTS}`;

/** Customers who are due a mail, with what is in it: one an hour each, however many processes ask. */
export async function claimAlertMails(db: Pool): Promise<ClaimedAlertMail[]> {
  const { rows: claimed } = await db.query<{ customerId: string; email: string }>(CLAIM);
  const mails: ClaimedAlertMail[] = [];
  for (const each of claimed) {
    const { rows } = await db.query<AlertView>(ALERTS, [each.customerId]);
    if (rows.length > 0) mails.push({ ...each, alerts: rows });
  }
  return mails;
}

/** The mail was handed over. A process that ends before this sends it again an hour later: rather twice than never. */
export async function settleAlertMail(db: Pool, { alerts }: Pick<ClaimedAlertMail, 'alerts'>): Promise<void> {
  await db.query('UPDATE alert SET is_mail_due = false WHERE id = ANY ($1)', [alerts.map(({ id }) => id)]);
}

/** The mail could not be handed over: it is tried again in 5 minutes. */
export async function releaseAlertMail(db: Pool, { customerId }: Pick<ClaimedAlertMail, 'customerId'>): Promise<void> {
  await db.query("UPDATE alert_mail SET claimed_at = now() - interval '55 minutes' WHERE customer_id = $1", [customerId]);
}
