import { type Pool } from 'pg';
import { type Database } from '../../../plugins/stores/postgres/database';

export type InvoiceNews = 'issued' | 'overdue' | 'paid' | 'credited';
export type PaymentNews = 'paid' | 'failed' | 'grace_ends' | 'grace_over';

export type OutageNews = 'began' | 'ended';

/** The detail of each kind, besides its subject's id. */
interface OutboxDetails {
  /** Alerts that wait to be mailed, by customer. */
  readonly alerts: '';
  readonly plan_answer: '';
  readonly outage: OutageNews;
  /** About a status subscription: the request for it, with an id of the request; or an outage, by its id. */
  readonly status: `${'asked' | OutageNews} ${string}`;
  readonly invoice: InvoiceNews;
  /** Ends with the id of the fact, or the second since which a payment has been failing. */
  readonly payment: `${PaymentNews} ${string}`;
  readonly webhook: '';
}
export type OutboxKind = keyof OutboxDetails;

const ENQUEUE = `
INSERT INTO outbox (kind, subject, detail) SELECT $1, subject, $3 FROM unnest($2::uuid[]) AS subject ON CONFLICT DO NOTHING`;

/**
 * Queues an item that is sent once this transaction has committed. The same item is sent once, however often it is queued. Alerts and
 * webhooks are queued by the statements that make them.
 * @param item.subjects ids of what it is about
 */
export async function enqueue<K extends OutboxKind>(
  db: Database,
  { kind, subjects, detail }: { kind: K; subjects: readonly string[]; detail: OutboxDetails[K] },
): Promise<void> {
  if (subjects.length > 0) await db.query(ENQUEUE, [kind, subjects, detail]);
}

/** An item that this process must send before the lease ends. */
export interface OutboxItem<K extends OutboxKind = OutboxKind> {
  readonly id: string;
  readonly subject: string;
  readonly detail: OutboxDetails[K];
  /** Including this one. */
  readonly attempts: number;
  /** PostgreSQL's text of the time, with microseconds. */
  readonly askedAt: string;
  /** True for a mail that could not be sent for so long that it is dropped: the pages have shown its news. */
  readonly isStale: boolean;
}

const STALE_DAYS = 7;

/** Items that another process is claiming are skipped, and claimed ones are not due. The condition is checked again under the lock. */
const CLAIM = `
UPDATE outbox SET attempts = attempts + 1, due_at = now() + $2 * interval '1 millisecond'
WHERE id = (
  SELECT id FROM outbox
  WHERE kind = $1 AND due_at <= now()
    AND (lane IS NULL OR lane <> ALL ($3) AND lane NOT IN (SELECT id FROM webhook WHERE state = 'paused'))
  ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id, subject, detail, attempts, asked_at::text AS "askedAt", asked_at < now() - interval '${STALE_DAYS} days' AS "isStale"`;

export interface ClaimOptions<K extends OutboxKind> {
  readonly kind: K;
  /** Longer than an attempt can take. If the process ends before it settles, the item is due again: delivery is at least once. */
  readonly leaseMs: number;
  /** Lanes with enough deliveries under way. */
  readonly busy?: readonly string[];
}

/** Takes the item that has been due the longest; undefined if none is due. Each item is claimed by one process. */
export async function claim<K extends OutboxKind>(
  db: Database,
  { kind, leaseMs, busy = [] }: ClaimOptions<K>,
): Promise<OutboxItem<K> | undefined> {
  return (await db.query<OutboxItem<K>>(CLAIM, [kind, leaseMs, busy])).rows[0];
}

/**
 * Marks an item as sent, or as no longer needed. If it was queued again since the claim, it stays due.
 * @returns false if the lease ended and another process has claimed it
 */
export async function settle(db: Database, { id, attempts, askedAt }: OutboxItem): Promise<boolean> {
  const text = 'UPDATE outbox SET due_at = CASE WHEN asked_at::text = $3 THEN NULL ELSE due_at END WHERE id = $1 AND attempts = $2';
  return (await db.query(text, [id, attempts, askedAt])).rowCount === 1;
}

/** Makes it due again later. @returns false if the lease ended and another process has claimed it */
export async function retry(db: Database, { id, attempts }: OutboxItem, pauseMs: number): Promise<boolean> {
  const text = "UPDATE outbox SET due_at = now() + $3 * interval '1 millisecond' WHERE id = $1 AND attempts = $2";
  return (await db.query(text, [id, attempts, pauseMs])).rowCount === 1;
}

/** Deletes sent items after 92 days, which is longer than anything is queued again, such as the reminder of an invoice. */
export async function pruneOutbox(db: Pool): Promise<void> {
  await db.query("DELETE FROM outbox WHERE due_at IS NULL AND asked_at < now() - interval '92 days'");
}
