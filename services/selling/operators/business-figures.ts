import { type Pool } from 'pg';
import { type Database } from '../../../plugins/stores/postgres/database';
import { type CustomerState } from './find-customers';
import { USE_DAYS } from './update-listing';

/** Figures about all customers, added up once a minute. */
export interface BusinessFigures {
  readonly at: Date;
  /** Monthly prices of all active subscriptions. */
  readonly rates: readonly { readonly currency: string; readonly amount: string }[];
  /** Number of customers in each state; a state without customers is absent. */
  readonly customers: Readonly<Partial<Record<CustomerState, number>>>;
  readonly newToday: number;
  /** Within the last 30 days. */
  readonly newInPeriod: number;
}

/** $1: today, $2: the quota time zone. */
const ADD_UP = `
INSERT INTO business_figures (content) SELECT jsonb_build_object(
  'rates', COALESCE((
    SELECT jsonb_agg(jsonb_build_object('currency', currency, 'amount', amount::text) ORDER BY currency) FROM (
      SELECT currency, sum(price) AS amount FROM subscription_term WHERE until IS NULL AND state = 'active' AND price > 0 GROUP BY 1
    ) AS sums
  ), '[]'),
  'customers', COALESCE((
    SELECT jsonb_object_agg(state, customers) FROM (
      SELECT state, count(*) AS customers FROM customer_listing WHERE list = 'all' GROUP BY 1
    ) AS counts
  ), '{}'),
  'newToday', (SELECT count(*) FROM customer_listing WHERE list = 'all' AND created_at >= $1::timestamp AT TIME ZONE $2),
  'newInPeriod', (
    SELECT count(*) FROM customer_listing WHERE list = 'all' AND created_at >= ($1::date - ${USE_DAYS - 1})::timestamp AT TIME ZONE $2
  )
)
ON CONFLICT (is_only) DO UPDATE SET at = now(), content = excluded.content`;

/**
 * Adds up the figures about all customers.
 * @param today `YYYY-MM-DD` in the quota time zone
 */
export async function addUpBusiness(db: Pool, { today, timeZone }: { readonly today: string; readonly timeZone: string }): Promise<void> {
  await db.query(ADD_UP, [today, timeZone]);
}

/** The figures as last added up; undefined before the first time. */
export async function readBusinessFigures(db: Database): Promise<BusinessFigures | undefined> {
  const { rows } = await db.query<{ at: Date; content: Omit<BusinessFigures, 'at'> }>('SELECT at, content FROM business_figures');
  return rows[0] && { at: rows[0].at, ...rows[0].content };
}

const WAITING = "SELECT count(*)::integer AS count, min(asked_at) AS since FROM plan_request WHERE state = 'open'";

/** Plan requests that wait for the seller. */
export async function countWaitingPlans(db: Database): Promise<{ readonly count: number; readonly since: Date | null }> {
  const { rows } = await db.query<{ count: number; since: Date | null }>(WAITING);
  return rows[0] ?? { count: 0, since: null };
}
