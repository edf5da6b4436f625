import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { enqueue, type OutageNews } from '../outbox/outbox';
import { type FailingTime, type Failure, failureOf, SETTLED_MS } from './one-failure';

/** A person who gets mail when a product fails, or who was asked to confirm the request for it. */
interface StatusSubscription {
  readonly id: string;
  readonly email: string;
  /** Null: every product that is offered. */
  readonly product: string | null;
  readonly isConfirmed: boolean;
}

/** After this the confirmation link stops working, and the address is deleted. */
const WAITING = "asked_at > now() - interval '1 day'";
const COLUMNS = 'id, email, product_id AS product, confirmed_at IS NOT NULL AS "isConfirmed"';

const ASK = `
INSERT INTO status_subscription AS known (email, product_id) VALUES (lower($1), $2)
ON CONFLICT (email, COALESCE(product_id, '')) DO UPDATE
SET asked_at = CASE WHEN known.confirmed_at IS NULL THEN now() ELSE known.asked_at END
RETURNING id`;

/**
 * Asks the reader of an address by mail to confirm that they want the status there. If the address gets it already, the mail says so.
 * @param wish.product an id of the catalogue; null for every product
 */
export function askForStatus(db: Pool, { email, product }: { email: string; product: string | null }): Promise<void> {
  return inTransaction(db, async (client) => {
    const { rows } = await client.query<{ id: string }>(ASK, [email, product]);
    await enqueue(client, { kind: 'status', subjects: rows.map(({ id }) => id), detail: `asked ${randomUUID()}` });
  });
}

/** Undefined if it was ended, or was not confirmed within a day. */
export async function findStatusSubscription(db: Database, id: string): Promise<StatusSubscription | undefined> {
  const text = `SELECT ${COLUMNS} FROM status_subscription WHERE id = $1 AND (confirmed_at IS NOT NULL OR ${WAITING})`;
  return (await db.query<StatusSubscription>(text, [id])).rows[0];
}

/** As {@link findStatusSubscription}. */
export async function confirmStatus(db: Database, id: string): Promise<StatusSubscription | undefined> {
  const text = `UPDATE status_subscription SET confirmed_at = COALESCE(confirmed_at, now())
    WHERE id = $1 AND (confirmed_at IS NOT NULL OR ${WAITING}) RETURNING ${COLUMNS}`;
  return (await db.query<StatusSubscription>(text, [id])).rows[0];
}

/** Deletes the address, and mails that wait for it. It may be called again. */
export async function endStatus(db: Pool, id: string): Promise<void> {
  await inTransaction(db, async (client) => {
    await client.query('DELETE FROM status_subscription WHERE id = $1', [id]);
    await client.query("DELETE FROM outbox WHERE kind = 'status' AND subject = $1 AND due_at IS NOT NULL", [id]);
  });
}

/** Deletes addresses that were not confirmed within a day. */
export async function sweepStatusSubscriptions(db: Pool): Promise<void> {
  await db.query(`DELETE FROM status_subscription WHERE confirmed_at IS NULL AND NOT ${WAITING}`);
}

/** More outages than one failure has, unless it changes every few minutes for days. */
const OF_PRODUCT = `
SELECT id, product_id AS product, began_at AS "beganAt", ended_at AS "endedAt" FROM product_outage
WHERE product_id = (SELECT product_id FROM product_outage WHERE id = $1) ORDER BY began_at DESC LIMIT 500`;

/** The failure that an outage is part of; undefined when the outage is no longer kept. */
export async function findFailure(db: Database, outage: string): Promise<Failure | undefined> {
  return failureOf((await db.query<FailingTime>(OF_PRODUCT, [outage])).rows, outage);
}

/** An address that subscribed both to this product and to all gets one mail. */
const QUEUE = `
INSERT INTO outbox (kind, subject, detail, due_at)
SELECT 'status', s.id, $2 || ' ' || o.id, CASE WHEN $2 = 'ended' THEN o.ended_at + $3 * interval '1 millisecond' ELSE now() END
FROM product_outage o CROSS JOIN LATERAL (
  SELECT DISTINCT ON (email) id FROM status_subscription
  WHERE confirmed_at IS NOT NULL AND (product_id IS NULL OR product_id = o.product_id) ORDER BY email, product_id NULLS LAST
) AS s
WHERE o.id = $1 ON CONFLICT DO NOTHING`;

/**
 * Queues a mail for everybody who subscribed to a product that begins to fail, or that works again. The latter waits for {@link
 * SETTLED_MS}, and a failure that begins within that time is not news. Call it in the transaction that writes the outage.
 */
export async function queueStatusMails(db: Database, { outage, news }: { outage: string; news: OutageNews }): Promise<void> {
  if (news === 'began' && (await findFailure(db, outage))?.first !== outage) return;
  await db.query(QUEUE, [outage, news, SETTLED_MS]);
}
