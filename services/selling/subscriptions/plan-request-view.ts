import { type Overage } from '../../../plugins/core/catalogue/catalogue';
import { countsUnits, includedLimits } from '../catalogue/included-limits';
import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { cursorAfter } from '../operations/page-cursor';

export type PlanRequestState = 'open' | 'approved' | 'declined' | 'withdrawn';

/** A plan request, with what the customer agreed to. */
export interface PlanRequestView {
  readonly id: string;
  readonly customerId: string;
  /** Email address. */
  readonly customer: string;
  readonly product: string;
  /** The product's title for customers. */
  readonly title: string;
  readonly plan: string;
  /** Whether the limits count units, which each response reports, or requests. */
  readonly countsUnits: boolean;
  /** Units a day and a month that the price includes, and what is sold above them; null: nothing. */
  readonly daily: number;
  readonly monthly: number;
  readonly overage: Overage | null;
  /** A month, with the currency's decimals, and its ISO 4217 code. */
  readonly price: string;
  readonly currency: string;
  readonly state: PlanRequestState;
  /** Why it was declined, for the customer to read; else empty. */
  readonly reason: string;
  readonly askedAt: Date;
  /** Null while it is open. */
  readonly answeredAt: Date | null;
  /** The plan in force until then; null for the base limits, and without a subscription. */
  readonly currentPlan: string | null;
  /** Null: the customer has no subscription to the product, or ended it. */
  readonly subscriptionId: string | null;
}

/** For statements; the request is `r`. */
export const PLAN_REQUEST = `
SELECT r.id, r.customer_id AS "customerId", c.email AS customer, r.product_id AS product, p.title, r.plan_name AS plan,
  ${countsUnits('p')} AS "countsUnits", ${includedLimits('r')},
  r.price::text AS price, r.currency, r.state, r.reason, r.asked_at AS "askedAt", r.answered_at AS "answeredAt",
  s.plan_name AS "currentPlan", s.id AS "subscriptionId"
FROM plan_request r
JOIN customer c ON c.id = r.customer_id
JOIN product p ON p.id = r.product_id
LEFT JOIN subscription s ON s.customer_id = r.customer_id AND s.product_id = r.product_id AND s.state <> 'cancelled'`;

/** Names a request; with `customerId` only among that customer's, another's then reads as unknown. */
export interface PlanRequestRef {
  readonly id: string;
  readonly customerId?: string;
}

async function readPlanRequest(db: Database, { id, customerId }: PlanRequestRef, lock: '' | 'FOR UPDATE OF r'): Promise<PlanRequestView> {
  const where = `WHERE r.id = $1 AND ($2::uuid IS NULL OR r.customer_id = $2) ${lock}`;
  const { rows } = isUuid(id) ? await db.query<PlanRequestView>(`${PLAN_REQUEST} ${where}`, [id, customerId ?? null]) : { rows: [] };
  if (!rows[0]) throw new OperationRefused('request_unknown', `there is no request "${id}" for a plan`);
  return rows[0];
}

/** @throws OperationRefused `request_unknown` */
export function viewPlanRequest(db: Database, request: PlanRequestRef): Promise<PlanRequestView> {
  return readPlanRequest(db, request, '');
}

/** Reads a request and locks it until the transaction ends. @throws OperationRefused `request_unknown` */
export function lockPlanRequest(db: Database, request: PlanRequestRef): Promise<PlanRequestView> {
  return readPlanRequest(db, request, 'FOR UPDATE OF r');
}

const OPEN = `${PLAN_REQUEST.replace('SELECT r.id,', 'SELECT r.number::text AS number, r.id,')}
WHERE r.state = 'open' AND r.number > $1 AND ($2::uuid IS NULL OR r.customer_id = $2) ORDER BY r.number LIMIT $3`;

export interface OpenRequestsQuery {
  readonly limit: number;
  /** Only this customer's. */
  readonly customerId?: string | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** Requests that wait for an operator, the longest waiting first. `next` is undefined at the end. */
export async function listOpenRequests(
  db: Database,
  { limit, customerId, after }: OpenRequestsQuery,
): Promise<{ requests: readonly PlanRequestView[]; next: string | undefined }> {
  const from = /^\d{1,18}$/.exec(Buffer.from(after ?? '', 'base64url').toString('latin1'))?.[0] ?? '0';
  const { rows } = await db.query<PlanRequestView & { number: string }>(OPEN, [from, customerId ?? null, limit + 1]);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { requests: shown.map(({ number: _number, ...request }) => request), next: last && cursorAfter(last.number) };
}

/** How long a customer's page still shows that a request was declined. */
const DECLINED_DAYS = 30;

const CURRENT = `
SELECT DISTINCT ON (product) * FROM (
  ${PLAN_REQUEST.replace('SELECT r.id,', 'SELECT r.number, r.id,')}
  WHERE r.customer_id = $1 AND (r.state <> 'declined' OR r.answered_at > now() - interval '${DECLINED_DAYS} days')
) AS request ORDER BY product, number DESC`;

/** A customer's last request for each product that is open, or was declined within 30 days. */
export async function readCurrentRequests(db: Database, customerId: string): Promise<PlanRequestView[]> {
  const { rows } = await db.query<PlanRequestView & { number: string }>(CURRENT, [customerId]);
  return rows.filter(({ state }) => state === 'open' || state === 'declined').map(({ number: _number, ...request }) => request);
}
