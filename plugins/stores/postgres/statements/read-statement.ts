import { windowsAt } from '../../../core/access/quota';
import {
  computeStatement,
  daysOfMonth,
  type Statement,
  type StatementLine,
  type StatementUse,
  type SubscriptionTerm,
} from '../../../core/selling/statement';
import { type Database } from '../database';

/** A customer's statement of one month. */
export interface MonthlyStatement extends Statement {
  /** E-mail address. */
  readonly customer: string;
  /** IANA name of the zone in which its days turn. */
  readonly timeZone: string;
  /** The first day that is known: of the month in which the customer's first subscription began, or records did. */
  readonly fromDay: string;
  /** When it became final; null while it still grows. */
  readonly closedAt: string | null;
}

export interface StatementQuery {
  readonly customer: { readonly id: string; readonly email: string };
  /** `YYYY-MM`. */
  readonly month: string;
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  /** Unix seconds. */
  readonly now: number;
}

/**
 * A month is closed when its third day after has begun: units of its last day are given back on the day after at the latest, and a
 * node that could not reach the database has another day to write what it counted.
 */
const DAYS_UNTIL_CLOSED = 2;
const SECONDS_A_DAY = 86_400;

/** The last month whose statements are closed. */
export function lastClosableMonth({ timeZone, now }: Pick<StatementQuery, 'timeZone' | 'now'>): string {
  return monthBefore(windowsAt(now - DAYS_UNTIL_CLOSED * SECONDS_A_DAY, timeZone).month);
}

function isClosable(month: string, { timeZone, now }: Pick<StatementQuery, 'timeZone' | 'now'>): boolean {
  return month <= lastClosableMonth({ timeZone, now });
}

/**
 * What each day is charged by, see `termOfDay` of statement.ts: chosen here, because a subscription can change more often than a process
 * wants to read. A term that ends where a day begins did not hold on that day.
 */
const TERMS = `
WITH month AS (SELECT $3::timestamp AT TIME ZONE $2 AS start, ($4::date + 1)::timestamp AT TIME ZONE $2 AS "end"),
spans AS (
  SELECT subscription_id, (GREATEST(since, start) AT TIME ZONE $2)::date AS from_day,
    ((LEAST(until, "end") - interval '1 microsecond') AT TIME ZONE $2)::date AS to_day,
    max(ARRAY[(state = 'active')::integer, CASE WHEN state = 'active' THEN price ELSE 0 END, id]) AS term
  FROM subscription_term, month WHERE customer_id = $1 AND since < "end" AND (until IS NULL OR until > start) GROUP BY 1, 2, 3
),
days AS (
  SELECT subscription_id, day, max(term) AS term FROM spans
  CROSS JOIN LATERAL generate_series(from_day::timestamp, to_day::timestamp, interval '1 day') AS day GROUP BY 1, 2
)
SELECT t.subscription_id AS "subscriptionId", product_id AS product, plan_name AS plan, price::text, currency, daily, monthly,
  state = 'active' AS "isActive", to_char(day, 'YYYY-MM-DD') AS "fromDay", to_char(day, 'YYYY-MM-DD') AS "toDay"
FROM days JOIN subscription_term t ON t.id = days.term[3]::bigint ORDER BY t.subscription_id, day`;

const USE = `
SELECT subscription AS "subscriptionId", to_char(usage.day, 'YYYY-MM-DD') AS day,
  COALESCE(sum(spent_redis + spent_postgres) FILTER (WHERE NOT is_test), 0)::float8 AS charged,
  COALESCE(sum(refunded) FILTER (WHERE NOT is_test), 0)::float8 AS refunded,
  COALESCE(sum(spent_redis + spent_postgres - refunded) FILTER (WHERE is_test), 0)::float8 AS test,
  (SELECT COALESCE(sum(admitted), 0)::float8 FROM subscription s JOIN credential c ON c.customer_id = s.customer_id AND c.mode = 'live'
    JOIN key_hour h ON h.credential_id = c.id AND h.product_id = s.product_id AND h.day = usage.day WHERE s.id = subscription) AS requests
FROM unnest($1::uuid[]) AS subscription
CROSS JOIN LATERAL (VALUES (subscription, false), (test_counter(subscription), true)) AS counter(id, is_test)
JOIN usage ON usage.subscription_id = counter.id AND usage.day BETWEEN $2::date AND $3::date
GROUP BY subscription, usage.day`;

const FIND = `SELECT content, closed_at AS "closedAt" FROM statement WHERE customer_id = $1 AND month = $2::date`;
/** Two that close it at once: the first wins, and both answer what it wrote. */
const CLOSE = 'INSERT INTO statement (customer_id, month, content) VALUES ($1, $2::date, $3) ON CONFLICT DO NOTHING';

type Content = Omit<MonthlyStatement, 'closedAt' | 'customer'>;

async function findClosed(db: Database, { customer, month }: StatementQuery): Promise<MonthlyStatement | undefined> {
  const { rows } = await db.query<{ content: Content; closedAt: Date }>(FIND, [customer.id, `${month}-01`]);
  if (!rows[0]) return undefined;
  const { content, closedAt } = rows[0];
  // Those that were closed before there were surcharges, or counts of requests, have none.
  const lines = content.lines.map((line) => ({
    ...line,
    surcharge: (line as Partial<StatementLine>).surcharge ?? '0.00',
    requests: (line as Partial<StatementLine>).requests ?? null,
  }));
  return { ...content, lines, customer: customer.email, closedAt: closedAt.toISOString() };
}

/**
 * A customer's statement: as it was closed, or as it stands while its month can still change. The first who asks for a month that is
 * over closes it.
 * @returns null for a month before the records begin, and for one that has not begun: what is not known is not zero
 */
export async function readStatement(db: Database, query: StatementQuery): Promise<MonthlyStatement | null> {
  const { customer, month, timeZone, now } = query;
  const closed = await findClosed(db, query);
  if (closed) return closed;
  const begin = (await findFirstDay(db, { customerId: customer.id, timeZone })) ?? '9999-12-31';
  const days = daysOfMonth(month);
  const [firstDay = '', lastDay = ''] = [days[0], days.at(-1)];
  const { day: today, month: presentMonth } = windowsAt(now, timeZone);
  if (begin > lastDay || presentMonth < month) return null;
  const { rows: terms } = await db.query<SubscriptionTerm>(TERMS, [customer.id, timeZone, firstDay, today < lastDay ? today : lastDay]);
  const subscriptions = [...new Set(terms.map(({ subscriptionId }) => subscriptionId))];
  const { rows: use } = await db.query<StatementUse>(USE, [subscriptions, firstDay, lastDay]);
  const content: Content = { ...computeStatement(month, terms, use), timeZone, fromDay: begin > firstDay ? begin : firstDay };
  if (!isClosable(month, query)) return { ...content, customer: customer.email, closedAt: null };
  await db.query(CLOSE, [customer.id, `${month}-01`, JSON.stringify(content)]);
  return (await findClosed(db, query)) ?? null;
}

const FIRST = `SELECT to_char(min(since) AT TIME ZONE $2, 'YYYY-MM-DD') AS day FROM subscription_term WHERE customer_id = $1`;

/** Undefined for a customer that never had a subscription. */
async function findFirstDay(db: Database, { customerId, timeZone }: { customerId: string; timeZone: string }): Promise<string | undefined> {
  const { rows } = await db.query<{ day: string | null }>(FIRST, [customerId, timeZone]);
  return rows[0]?.day ?? undefined;
}

/** Months of which a customer has a statement, newest first; none before the records begin. */
export async function listStatementMonths(
  db: Database,
  { customerId, timeZone, now }: { customerId: string; timeZone: string; now: number },
): Promise<{ readonly month: string; readonly isClosed: boolean }[]> {
  const first = (await findFirstDay(db, { customerId, timeZone }))?.slice(0, 'YYYY-MM'.length);
  if (first === undefined) return [];
  const months: { month: string; isClosed: boolean }[] = [];
  for (let month = windowsAt(now, timeZone).month; month >= first; month = monthBefore(month)) {
    months.push({ month, isClosed: isClosable(month, { timeZone, now }) });
  }
  return months;
}

function monthBefore(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 2, 1)).toISOString().slice(0, 7);
}
