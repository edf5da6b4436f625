import { type Pool } from 'pg';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { type OutboxItem, retry } from '../outbox/outbox';
import { ALERT_COLUMNS, ALERT_JOINS, type AlertView, STILL_HOLDS } from '../webhooks/alert-view';

const MAX_ALERTS = 100;
/** Pause between two mails to one customer. */
const REST_MS = 3_600_000;

/** Older alerts are not worth mailing: mail could not be sent for that long. */
const WAITING = `
SELECT ${ALERT_COLUMNS} FROM alert a ${ALERT_JOINS}
WHERE a.customer_id = $1 AND a.is_mail_due AND a.at > now() - interval '1 day' AND ${STILL_HOLDS}
ORDER BY a.number LIMIT ${MAX_ALERTS}`;

/** A customer's alerts that wait to be mailed, oldest first. */
export async function listMailedAlerts(db: Pool, customerId: string): Promise<AlertView[]> {
  return (await db.query<AlertView>(WAITING, [customerId])).rows;
}

/** Records that these were mailed. The customer gets no other mail within the hour. */
export function settleMailedAlerts(db: Pool, item: OutboxItem<'alerts'>, alerts: readonly AlertView[]): Promise<void> {
  return inTransaction(db, async (client) => {
    await client.query('UPDATE alert SET is_mail_due = false WHERE id = ANY ($1)', [alerts.map(({ id }) => id)]);
    await retry(client, item, REST_MS);
  });
}
