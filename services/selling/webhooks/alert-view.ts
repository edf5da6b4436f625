import { countsUnits } from '../catalogue/included-limits';
import { type Database } from '../../../plugins/stores/postgres/database';
import { DAILY_IN_FORCE, MONTHLY_IN_FORCE, OVERAGE_IN_FORCE } from '../../../plugins/stores/postgres/access-record/limits-in-force';
import { cutPage, numberBefore } from '../operations/page-cursor';

/** An alert with everything that a sentence about it needs. */
export interface AlertView {
  readonly id: string;
  readonly at: Date;
  readonly kind: 'quota_daily' | 'quota_monthly' | 'key_expiry';
  readonly subscriptionId: string | null;
  readonly product: string | null;
  /** The product's name for customers. */
  readonly productTitle: string | null;
  /** True if `used` and `limit` count units, whose number each response reports; otherwise they count requests. */
  readonly countsUnits: boolean;
  /** 50, 80 or 100; null for an expiry. */
  readonly percent: number | null;
  /** Figures at the time of the alert. */
  readonly used: number | null;
  readonly limit: number | null;
  /** True if `limit` is what the price includes, so that use above it is charged. Otherwise requests above it are refused. */
  readonly isIncluded: boolean;
  /** First day of the window in the quota time zone, `YYYY-MM-DD`; the day of the expiry in UTC. */
  readonly period: string;
  readonly keyId: string | null;
  readonly maskedKey: string | null;
  readonly keyName: string | null;
  /** Expiry of the key at the time of the alert. */
  readonly expiresAt: Date | null;
  readonly readAt: Date | null;
  /** True if the limit has been raised since, or the plan no longer has it: there is nothing to do. */
  readonly isOver: boolean;
}

/** True if the alert's limit is now larger, or gone. */
const IS_OVER = `
(a.kind <> 'key_expiry' AND COALESCE(a.quota_limit < CASE
  WHEN a.is_included THEN (${OVERAGE_IN_FORCE} ->> CASE a.kind WHEN 'quota_daily' THEN 'daily' ELSE 'monthly' END)::bigint
  WHEN a.kind = 'quota_daily' THEN ${DAILY_IN_FORCE}
  ELSE ${MONTHLY_IN_FORCE}
END, true))`;

/** With {@link ALERT_JOINS}. False for an alert that no longer matters. */
export const STILL_HOLDS = `NOT ${IS_OVER}`;

/** For statements that name an alert `a`; with {@link ALERT_JOINS}. */
export const ALERT_COLUMNS = `
a.id, a.at, a.kind, a.subscription_id AS "subscriptionId", s.product_id AS product,
p.title AS "productTitle", ${countsUnits('p')} AS "countsUnits", a.percent, a.used::float8 AS used,
a.quota_limit::float8 AS limit, a.is_included AS "isIncluded", to_char(a.period, 'YYYY-MM-DD') AS period, a.credential_id AS "keyId",
k.prefix || '…' || k.last_four AS "maskedKey", k.name AS "keyName",
CASE WHEN a.kind = 'key_expiry' THEN a.period AT TIME ZONE 'UTC' END AS "expiresAt", a.read_at AS "readAt",
${IS_OVER} AS "isOver"`;
export const ALERT_JOINS = `
LEFT JOIN subscription s ON s.id = a.subscription_id LEFT JOIN product p ON p.id = s.product_id
LEFT JOIN plan l ON l.product_id = s.product_id AND l.name = s.plan_name
LEFT JOIN credential k ON k.id = a.credential_id`;

const PAGE = `
SELECT ${ALERT_COLUMNS}, a.number::text AS number FROM alert a ${ALERT_JOINS}
WHERE a.customer_id = $1 AND a.number < $2 ORDER BY a.number DESC LIMIT $3`;
const UNREAD = `
SELECT count(*)::integer AS unread FROM alert a ${ALERT_JOINS} WHERE a.customer_id = $1 AND a.read_at IS NULL AND ${STILL_HOLDS}`;
const READ = 'UPDATE alert SET read_at = now() WHERE customer_id = $1 AND read_at IS NULL';

export interface AlertsPage {
  readonly alerts: readonly AlertView[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
  /** Unread alerts of all pages. */
  readonly unread: number;
}

/** A customer's alerts, newest first. */
export async function listAlerts(
  db: Database,
  query: { customerId: string; limit: number; after?: string | undefined },
): Promise<AlertsPage> {
  const { customerId, limit, after } = query;
  const page = await db.query<AlertView & { number: string }>(PAGE, [customerId, numberBefore(after), limit + 1]);
  const unread = await db.query<{ unread: number }>(UNREAD, [customerId]);
  const { rows, next } = cutPage(page.rows, limit);
  return { alerts: rows, next, unread: unread.rows[0]?.unread ?? 0 };
}

/** Marks all of a customer's alerts as read. */
export async function markAlertsRead(db: Database, { customerId }: { customerId: string }): Promise<void> {
  await db.query(READ, [customerId]);
}
