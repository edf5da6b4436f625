import { type HeldPlan } from './plan-change';
import { type Discount, type Entitlement, type NextPlan, type PaymentState } from './payment-state';
import { OperationRefused } from '../operations/operation-refused';
import { type Database } from '../../../plugins/stores/postgres/database';

/** A subscription by the provider's own id. */
export interface PaidRef {
  readonly provider: string;
  readonly reference: string;
}

/** A subscription at a payment provider, as pages show it. Times are seconds since 1970. */
export interface PaidSubscription extends PaidRef {
  readonly id: string;
  readonly customerId: string;
  readonly product: string;
  readonly plan: string | null;
  readonly status: PaymentState['status'] | null;
  readonly price: number | null;
  readonly currency: string | null;
  readonly periodEnd: number | null;
  readonly cancelsAt: number | null;
  readonly failingSince: number | null;
  readonly entitlement: Entitlement;
  readonly givenPlan: string | null;
  /** The plan that begins with the next period; null if none does. */
  readonly next: NextPlan | null;
  readonly discount: Discount | null;
  readonly isPaused: boolean;
}

const epoch = (column: string): string => `extract(epoch FROM ${column})::float8`;
const SELECT = `
SELECT id, provider, reference, customer_id AS "customerId", product_id AS product, plan_name AS plan, status, price::float8 AS price, currency,
  ${epoch('period_end')} AS "periodEnd", ${epoch('cancels_at')} AS "cancelsAt", ${epoch('failing_since')} AS "failingSince", entitlement,
  given_plan AS "givenPlan", CASE WHEN next_plan IS NOT NULL THEN json_build_object('plan', next_plan, 'price', next_price) END AS next,
  discount, is_paused AS "isPaused"
FROM paid_subscription`;

/** A customer's paid plans that have not ended, by product. */
export async function listPaid(db: Database, customerId: string): Promise<PaidSubscription[]> {
  const { rows } = await db.query<PaidSubscription>(
    `${SELECT} WHERE customer_id = $1 AND status IS NOT NULL AND status NOT IN ('waiting', 'ended') ORDER BY product_id, made_at`,
    [customerId],
  );
  return rows;
}

/** Finds a paid plan by the provider's id; undefined if it is not ours. @param lock until the caller's transaction ends */
export async function findPaidByReference(db: Database, { provider, reference }: PaidRef, lock: '' | 'FOR UPDATE' = '') {
  return (await db.query<PaidSubscription>(`${SELECT} WHERE provider = $1 AND reference = $2 ${lock}`, [provider, reference])).rows[0];
}

/** True if a customer ever paid for a product, or had a trial of it. */
export async function wasPaid(db: Database, customerId: string, product: string): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM paid_subscription WHERE customer_id = $1 AND product_id = $2 LIMIT 1', [
    customerId,
    product,
  ]);
  return (rowCount ?? 0) > 0;
}

/** The subscription that pays for a product now; undefined if nothing is paid. */
export async function findPaid(db: Database, customerId: string, product: string): Promise<PaidSubscription | undefined> {
  return (await listPaid(db, customerId)).find((each) => each.product === product);
}

/** The plan as `plan-change.ts` judges it; undefined before the provider has reported it. */
export function heldPlan({
  status,
  plan,
  price,
  currency,
  periodEnd,
  cancelsAt,
  next,
  discount,
  isPaused,
}: PaidSubscription): HeldPlan | undefined {
  if (status === null || plan === null || price === null || currency === null || periodEnd === null) return undefined;
  return { status, plan, price, currency, periodEnd, cancelsAt, next, discount, isPaused };
}

/**
 * For plans that a seller gives or ends: otherwise the payment provider would continue to charge for a plan that the customer no longer
 * has.
 * @throws OperationRefused `plan_paid`
 */
export async function requireUnpaid(db: Database, { customerId, product }: { customerId: string; product: string }): Promise<void> {
  const paid = await findPaid(db, customerId, product);
  if (!paid) return;
  const text = `the customer pays for "${String(paid.plan)}" at ${paid.provider}; end that payment first, or confirm that it continues`;
  throw new OperationRefused('plan_paid', text);
}

/** One provider's paid plans that have not ended, as far as we know. */
export async function listGoingOn(db: Database, provider: string): Promise<PaidSubscription[]> {
  const { rows } = await db.query<PaidSubscription>(
    `${SELECT} WHERE provider = $1 AND status IS NOT NULL AND status NOT IN ('waiting', 'ended') ORDER BY made_at`,
    [provider],
  );
  return rows;
}

/** Call it before something is requested from the provider. If the response is lost, the background work asks for the outcome. */
export async function askSoon(db: Database, id: string): Promise<void> {
  await db.query("UPDATE paid_subscription SET look_at = LEAST(look_at, now() + interval '30 seconds') WHERE id = $1", [id]);
}

const RESUMABLE = `
${SELECT} AS p WHERE customer_id = $1 AND is_paused AND status <> 'ended' AND NOT EXISTS (SELECT FROM suspension x WHERE x.customer_id = p.customer_id)
  AND NOT EXISTS (
    SELECT FROM suspension x JOIN subscription s ON s.id = x.subscription_id WHERE s.customer_id = p.customer_id AND s.product_id = p.product_id
  )`;

/** A customer's paused payments for subscriptions that are no longer suspended. */
export async function listResumable(db: Database, customerId: string): Promise<PaidSubscription[]> {
  return (await db.query<PaidSubscription>(RESUMABLE, [customerId])).rows;
}

const OF_LEAVING = `
SELECT provider, reference, CASE WHEN d.erased_at IS NULL THEN 'cancel' ELSE 'end' END AS kind
FROM paid_subscription p JOIN account_deletion d ON d.customer_id = p.customer_id AND (d.erased_at IS NOT NULL OR p.cancels_at IS NULL)
WHERE p.look_at IS NOT NULL AND p.status <> 'ended' AND p.reference <> ALL ($1) LIMIT 10`;

/**
 * Subscriptions of deleted accounts. While the deletion can be undone nothing more is charged; after it they end.
 * @param except subscriptions whose end a provider refused
 */
export async function listPaidByLeaving(db: Database, except: ReadonlySet<string>) {
  return (await db.query<PaidRef & { readonly kind: 'cancel' | 'end' }>(OF_LEAVING, [[...except]])).rows;
}

const CLAIM = `
UPDATE paid_subscription SET look_at = now() + interval '60 seconds'
WHERE id = (SELECT id FROM paid_subscription WHERE look_at <= now() ORDER BY look_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING provider, reference`;

/** Takes one subscription that the provider must be asked about; undefined if there is none. */
export async function claimPaid(db: Database): Promise<PaidRef | undefined> {
  return (await db.query<PaidRef>(CLAIM)).rows[0];
}
