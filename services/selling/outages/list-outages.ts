import { type Database } from '../../../plugins/stores/postgres/database';

/** A product that failed, or still does. */
export interface OutageView {
  readonly id: string;
  readonly product: string;
  readonly title: string;
  readonly beganAt: Date;
  /** Null while it goes on. */
  readonly endedAt: Date | null;
  /** Responses since the outage began, and how many of them were 500 to 599. */
  readonly answered: number;
  readonly failed: number;
}

const COLUMNS = `o.id, o.product_id AS product, p.title, o.began_at AS "beganAt", o.ended_at AS "endedAt", o.answered::float8 AS answered,
  o.failed::float8 AS failed`;
/** Long enough for somebody who looks once a day. */
const RECENT_DAYS = 1;
const RECENT = `(o.ended_at IS NULL OR o.ended_at > now() - interval '${RECENT_DAYS} day')`;

const LIST = `
SELECT ${COLUMNS} FROM product_outage o JOIN product p ON p.id = o.product_id
WHERE o.ended_at IS NULL OR o.ended_at > now() - $1::integer * interval '1 day' ORDER BY o.began_at DESC LIMIT 500`;

/**
 * Looks at the hours that the outage touches, which may hold failures from before and after it. It reads the days first, because they are
 * few.
 */
const OF_CUSTOMER = `
SELECT ${COLUMNS} FROM product_outage o JOIN product p ON p.id = o.product_id
WHERE ${RECENT} AND EXISTS (
  SELECT FROM customer_day d
  WHERE d.customer_id = $1 AND d.product_id = o.product_id AND d.failed > 0 AND d.day BETWEEN (o.began_at AT TIME ZONE $2)::date
    AND (COALESCE(o.ended_at, now()) AT TIME ZONE $2)::date
) AND EXISTS (
  SELECT FROM credential k JOIN key_hour h ON h.credential_id = k.id
  WHERE k.customer_id = $1 AND h.product_id = o.product_id AND h.failed > 0
    AND h.day BETWEEN (o.began_at AT TIME ZONE $2)::date AND (COALESCE(o.ended_at, now()) AT TIME ZONE $2)::date
    AND (h.day::timestamp AT TIME ZONE $2) + (h.hour + 1) * interval '1 hour' > o.began_at
    AND (h.day::timestamp AT TIME ZONE $2) + h.hour * interval '1 hour' <= COALESCE(o.ended_at, now())
)
ORDER BY o.began_at DESC LIMIT 10`;

const MAILED = `
SELECT ${COLUMNS}, ARRAY(SELECT u.email FROM operator JOIN auth_user u ON u.id = operator.user_id ORDER BY 1) AS "to"
FROM product_outage o JOIN product p ON p.id = o.product_id WHERE o.id = $1 AND ${RECENT}`;

/** An outage with the addresses of all operators; undefined when it ended more than a day ago. */
export async function findMailedOutage(db: Database, id: string): Promise<(OutageView & { readonly to: readonly string[] }) | undefined> {
  return (await db.query<OutageView & { to: string[] }>(MAILED, [id])).rows[0];
}

/** Outages that go on or ended within this many days, the latest first. */
export async function listOutages(db: Database, days = RECENT_DAYS): Promise<OutageView[]> {
  return (await db.query<OutageView>(LIST, [days])).rows;
}

/** Outages in which requests of this customer failed. @param query.timeZone quota time zone, IANA name */
export async function listOutagesOf(db: Database, query: { customerId: string; timeZone: string }): Promise<OutageView[]> {
  return (await db.query<OutageView>(OF_CUSTOMER, [query.customerId, query.timeZone])).rows;
}
