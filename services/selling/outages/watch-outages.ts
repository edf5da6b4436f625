import { type Pool, type PoolClient } from 'pg';
import { windowsAt } from '../../../plugins/core/access/quota';
import { type AlertRule, type AnsweredMinute, isOutageOver, judgeMinute, USUAL_ALERT } from '../../../plugins/core/catalogue/outage';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { enqueue } from '../outbox/outbox';
import { addUpAnswers } from './product-answers';
import { queueStatusMails } from './status-subscriptions';

/** An arbitrary number that nothing else locks. The lock lets one dashboard check at a time. */
const LOCK = 720_260_310;
const TURN = 'SELECT pg_try_advisory_xact_lock($1) AS got, COALESCE($2::timestamptz, now()) AS at';

/** Another process has just looked: its counts must not be added again. */
const JUST_LOOKED = "SELECT FROM product_pulse WHERE at > $1::timestamptz - interval '5 seconds' LIMIT 1";

/** Responses of today and yesterday so far. A day that is over may still get late counts. */
const TAKE_PULSE = `
INSERT INTO product_pulse (at, day, product_id, answered, failed)
SELECT $1, day, product_id, succeeded + rejected + failed, failed FROM product_answers
WHERE day BETWEEN $2::date - 1 AND $2::date AND succeeded IS NOT NULL
ON CONFLICT DO NOTHING`;

/**
 * The minute is what was counted since the oldest pulse within it, and `more` what was counted since the latest pulse. A product without a
 * response on a day has no row in that day's pulses. Without any pulse, as after a start, the minute is not known yet.
 */
const MINUTES = `
WITH seen AS (
  SELECT min(at) AS first, max(at) AS last FROM product_pulse WHERE at >= $1::timestamptz - interval '1 minute' AND at < $1
), counted AS (
  SELECT now.product_id, now.answered - COALESCE(first.answered, 0) AS answered, now.failed - COALESCE(first.failed, 0) AS failed,
    now.answered - COALESCE(last.answered, 0) AS more_answered, now.failed - COALESCE(last.failed, 0) AS more_failed
  FROM seen JOIN product_pulse now ON now.at = $1
  LEFT JOIN product_pulse first ON first.at = seen.first AND first.day = now.day AND first.product_id = now.product_id
  LEFT JOIN product_pulse last ON last.at = seen.last AND last.day = now.day AND last.product_id = now.product_id
  WHERE seen.first IS NOT NULL
), minute AS (
  SELECT product_id, GREATEST(sum(answered), 0)::float8 AS answered, GREATEST(sum(failed), 0)::float8 AS failed,
    GREATEST(sum(more_answered), 0)::float8 AS "moreAnswered", GREATEST(sum(more_failed), 0)::float8 AS "moreFailed"
  FROM counted GROUP BY 1
)
SELECT p.id AS product, p.definition -> 'alert' AS rule, COALESCE(m.answered, 0) AS answered, COALESCE(m.failed, 0) AS failed,
  COALESCE("moreAnswered", 0) AS "moreAnswered", COALESCE("moreFailed", 0) AS "moreFailed", o.id AS outage, o.failed_at AS "failedAt"
FROM product p LEFT JOIN minute m ON m.product_id = p.id LEFT JOIN product_outage o ON o.product_id = p.id AND o.ended_at IS NULL
WHERE o.id IS NOT NULL OR m.failed > 0`;

interface Minute extends AnsweredMinute {
  readonly product: string;
  readonly rule: AlertRule | null;
  readonly moreAnswered: number;
  readonly moreFailed: number;
  readonly outage: string | null;
  readonly failedAt: Date | null;
}

const BEGIN = `
INSERT INTO product_outage (product_id, began_at, failed_at, answered, failed) VALUES ($1, $2, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING id`;
const GO_ON = `
UPDATE product_outage SET answered = answered + GREATEST($3::bigint, $4::bigint), failed = failed + $4::bigint,
  failed_at = CASE WHEN $4::bigint > 0 THEN $2::timestamptz ELSE failed_at END,
  ended_at = CASE WHEN $5::boolean THEN $2::timestamptz END
WHERE id = $1 AND ended_at IS NULL`;

/** A change in one product's state. */
export interface OutageChange {
  readonly product: string;
  readonly change: 'began' | 'ended';
}

async function follow(client: PoolClient, at: Date, minute: Minute): Promise<OutageChange | undefined> {
  const { product, rule, answered, failed, moreAnswered, moreFailed, outage, failedAt } = minute;
  const verdict = judgeMinute({ answered, failed }, rule ?? USUAL_ALERT);
  if (outage === null) {
    if (verdict !== 'failing') return undefined;
    const { rows: begun } = await client.query<{ id: string }>(BEGIN, [product, at, answered, failed]);
    await enqueue(client, { kind: 'outage', subjects: begun.map(({ id }) => id), detail: 'began' });
    for (const { id } of begun) await queueStatusMails(client, { outage: id, news: 'began' });
    return { product, change: 'began' };
  }
  const isOver = isOutageOver(verdict, at.getTime() - (failedAt ?? at).getTime());
  await client.query(GO_ON, [outage, at, moreAnswered, moreFailed, isOver]);
  if (!isOver) return undefined;
  await enqueue(client, { kind: 'outage', subjects: [outage], detail: 'ended' });
  await queueStatusMails(client, { outage, news: 'ended' });
  return { product, change: 'ended' };
}

export interface WatchOutagesOptions {
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  /** The present time; the database's clock unless given. */
  readonly at?: Date;
}

/**
 * Checks the responses of each product within the last minute, and begins and ends outages by the rules of the catalogue. Call it about
 * every ten seconds. However many processes do so, each outage begins once and ends once; the seller's webhooks are queued in the same
 * transaction.
 * @returns the outages that began and ended now
 */
export function watchOutages(db: Pool, { timeZone, at: given }: WatchOutagesOptions): Promise<OutageChange[]> {
  return inTransaction(db, async (client) => {
    const { rows: turn } = await client.query<{ got: boolean; at: Date }>(TURN, [LOCK, given ?? null]);
    if (!turn[0]?.got) return [];
    const { at } = turn[0];
    if ((await client.query(JUST_LOOKED, [at])).rowCount !== 0) return [];
    const today = windowsAt(at.getTime() / 1000, timeZone).day;
    await addUpAnswers(client, today);
    await client.query(TAKE_PULSE, [at, today]);
    const changes: OutageChange[] = [];
    for (const minute of (await client.query<Minute>(MINUTES, [at])).rows) {
      const change = await follow(client, at, minute);
      if (change) changes.push(change);
    }
    await client.query("DELETE FROM product_pulse WHERE at < $1::timestamptz - interval '5 minutes'", [at]);
    return changes;
  });
}

/** Deletes outages that ended more than 92 days ago, as long as the counts are kept. */
export async function pruneOutages(db: Pool): Promise<void> {
  await db.query("DELETE FROM product_outage WHERE ended_at < now() - interval '92 days'");
}
