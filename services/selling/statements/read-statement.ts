import { windowsAt } from '../../../plugins/core/access/quota';
import { toMinor, toSafeNumber } from '../../../plugins/core/catalogue/money';
import { type StatementLine } from './statement';
import { type Database } from '../../../plugins/stores/postgres/database';
import { type BatchQuery, computeContents, type Content, findFirstDays, groupBy } from './compute-statements';

/** A customer's statement of one month. */
export interface MonthlyStatement extends Content {
  /** Email address. */
  readonly customer: string;
  /** When it became final; null while it still grows. */
  readonly closedAt: string | null;
}

export interface StatementQuery extends Omit<BatchQuery, 'customers'> {
  readonly customer: { readonly id: string; readonly email: string };
}

/**
 * A month is closed once its third day after has begun: units of its last day are given back on the next day at the latest, and a node that
 * could not reach the database has another day to write its counts.
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

const FIND = `SELECT content, closed_at AS "closedAt" FROM statement WHERE customer_id = $1 AND month = $2::date`;
/**
 * If two requests close a statement at once, the first wins, and both return what it wrote. The provider's charges are stored with the
 * statement, so that each unit above the limits is charged once.
 */
const CLOSE = `
WITH closed AS (
  INSERT INTO statement (customer_id, month, content)
  SELECT id, $1::date, content FROM jsonb_to_recordset($2) AS row(id uuid, content jsonb) ON CONFLICT DO NOTHING RETURNING customer_id
)
INSERT INTO overage_charge (customer_id, month, product_id, currency, units, amount)
SELECT customer_id, $1::date, product, currency, units, amount
FROM closed JOIN jsonb_to_recordset($3) AS row(id uuid, product text, currency text, units bigint, amount bigint) ON id = customer_id`;

async function findClosed(db: Database, { customer, month }: StatementQuery): Promise<MonthlyStatement | undefined> {
  const { rows } = await db.query<{ content: Content; closedAt: Date }>(FIND, [customer.id, `${month}-01`]);
  if (!rows[0]) return undefined;
  const { content, closedAt } = rows[0];
  // Statements closed before there were surcharges, counts of requests, overage, or payments in advance have none.
  const lines = content.lines.map((line) => ({
    ...line,
    surcharge: (line as Partial<StatementLine>).surcharge ?? '0.00',
    requests: (line as Partial<StatementLine>).requests ?? null,
    overage: (line as Partial<StatementLine>).overage ?? null,
    isPaidInAdvance: (line as Partial<StatementLine>).isPaidInAdvance ?? false,
  }));
  return { ...content, lines, customer: customer.email, closedAt: closedAt.toISOString() };
}

/**
 * Units above the limits that a payment provider must charge, by product and currency, each with its amount in the currency's smallest
 * unit.
 */
function overageOf(id: string, { lines }: Content): object[] {
  const sold = lines.filter(({ overage, isPaidInAdvance }) => isPaidInAdvance && overage !== null && overage.units > 0);
  return [...groupBy(sold, ({ product, currency }) => `${product} ${currency}`).values()].flatMap((own) => {
    const { product, currency } = own[0] ?? {};
    const amount = own.reduce((sum, { overage }) => sum + toMinor(overage?.amount ?? '0', currency ?? null), 0n);
    const units = own.reduce((sum, { overage }) => sum + (overage?.units ?? 0), 0);
    return amount > 0n ? [{ id, product, currency, units, amount: toSafeNumber(amount) }] : [];
  });
}

/**
 * Closes customers' statements of a past month, each written once however many processes do so.
 * @returns how many customers have one now
 */
export async function closeMonth(db: Database, query: BatchQuery): Promise<number> {
  const contents = await computeContents(db, query);
  const rows = [...contents].map(([id, content]) => ({ id, content }));
  const overage = rows.flatMap(({ id, content }) => overageOf(id, content));
  await db.query(CLOSE, [`${query.month}-01`, JSON.stringify(rows), JSON.stringify(overage)]);
  return rows.length;
}

/**
 * A customer's statement: as it was closed, or its present state while its month can still change. The first request for a past month
 * closes it.
 * @returns null for a month before the records begin, and for one that has not begun
 */
export async function readStatement(db: Database, query: StatementQuery): Promise<MonthlyStatement | null> {
  const { customer, ...of } = query;
  const closed = await findClosed(db, query);
  if (closed) return closed;
  const batch = { ...of, customers: [customer.id] };
  if (isClosable(of.month, query)) return (await closeMonth(db, batch)) > 0 ? ((await findClosed(db, query)) ?? null) : null;
  const content = (await computeContents(db, batch)).get(customer.id);
  return content ? { ...content, customer: customer.email, closedAt: null } : null;
}

/** Months of which a customer has a statement, newest first; none before the records begin. */
export async function listStatementMonths(
  db: Database,
  { customerId, timeZone, now }: { customerId: string; timeZone: string; now: number },
): Promise<{ readonly month: string; readonly isClosed: boolean }[]> {
  const first = (await findFirstDays(db, { customers: [customerId], timeZone })).get(customerId)?.slice(0, 'YYYY-MM'.length);
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
