import { type PoolClient } from 'pg';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../database';
import { changeSubscription } from '../subscriptions/change-subscription';
import { type SubscriptionView } from '../subscriptions/subscription-view';

/** Why a subscription has limits of its own, and until when. */
export interface LimitTerm {
  readonly subscriptionId: string;
  readonly reason: string;
  /** E-mail address of the operator. */
  readonly setBy: string;
  /** Null: for good. */
  readonly endsAt: Date | null;
}

export interface LimitWish {
  /** Of the subscription. */
  readonly id: string;
  /** Requests a day and a month; null for what the plan gives. */
  readonly daily: number | null;
  readonly monthly: number | null;
  readonly reason: string;
  readonly endsAt: Date | null;
  readonly setBy: string;
  readonly actor: Actor;
}

const KEEP = `
INSERT INTO subscription_limit_term (subscription_id, reason, set_by, ends_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (subscription_id) DO UPDATE SET reason = excluded.reason, set_by = excluded.set_by, ends_at = excluded.ends_at`;
const DROP = 'DELETE FROM subscription_limit_term WHERE subscription_id = $1';

/**
 * Sets the limits of one subscription, or takes them away. They count from the next request, and go by themselves within a minute of
 * their end.
 * @throws OperationRefused `subscription_unknown`, `subscription_cancelled`, `limit_malformed`
 */
export function setLimits(db: Database, wish: LimitWish): Promise<SubscriptionView> {
  const { id, daily, monthly, reason, endsAt, setBy, actor } = wish;
  return inTransaction(db, async (client) => {
    const view = await changeSubscription(client, { id, daily, monthly, actor });
    if (daily === null && monthly === null) await client.query(DROP, [view.id]);
    else await client.query(KEEP, [view.id, reason, setBy, endsAt]);
    await writeAudit(client, {
      actor,
      action: 'subscription.limits',
      subject: { kind: 'subscription', id: view.id },
      details: { reason, until: endsAt },
    });
    return view;
  });
}

/** Of one customer's subscriptions. */
export async function listLimitTerms(db: Database, customerId: string): Promise<LimitTerm[]> {
  const text = `
    SELECT t.subscription_id AS "subscriptionId", t.reason, t.set_by AS "setBy", t.ends_at AS "endsAt"
    FROM subscription_limit_term t JOIN subscription s ON s.id = t.subscription_id WHERE s.customer_id = $1`;
  return (await db.query<LimitTerm>(text, [customerId])).rows;
}

/** A few at a time; rows that another process is at are left to it. */
const ENDED = `
SELECT t.subscription_id AS id FROM subscription_limit_term t
WHERE t.ends_at <= now() ORDER BY t.ends_at LIMIT 100 FOR UPDATE OF t SKIP LOCKED`;
const END = 'UPDATE subscription SET daily_override = NULL, monthly_override = NULL, updated_at = now() WHERE id = $1';

async function endOne(client: PoolClient, id: string): Promise<void> {
  const { rows } = await client.query<{ daily: number | null; monthly: number | null }>(
    'SELECT daily_override AS daily, monthly_override AS monthly FROM subscription WHERE id = $1 FOR UPDATE',
    [id],
  );
  await client.query(END, [id]);
  await client.query(DROP, [id]);
  const details = { before: rows[0], after: { daily: null, monthly: null }, reason: 'the end date of the limits has come' };
  await writeAudit(client, { actor: 'dashboard', action: 'subscription.change', subject: { kind: 'subscription', id }, details });
}

/** Takes limits away whose end has come. @returns of how many subscriptions */
export function endLimits(db: Database): Promise<number> {
  return inTransaction(db, async (client) => {
    const { rows } = await client.query<{ id: string }>(ENDED);
    for (const { id } of rows) await endOne(client, id);
    return rows.length;
  });
}
