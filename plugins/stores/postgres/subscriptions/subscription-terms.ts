import { type Database } from '../database';
import { OperationRefused } from '../operation-refused';

/** What a new subscription is to be like. */
export interface SubscriptionTerms {
  /** Upper and lower case are the same. Without one the product's base limits hold. */
  readonly plan?: string;
  /** Requests a day and a month for this subscription alone; they outrank plan and base. */
  readonly daily?: number;
  readonly monthly?: number;
}

/** PostgreSQL's integer. */
const HIGHEST_LIMIT = 2_147_483_647;

/** @throws OperationRefused `limit_malformed` */
export function checkLimit(limit: number | null | undefined, window: 'daily' | 'monthly'): void {
  if (limit === undefined || limit === null) return;
  if (Number.isInteger(limit) && limit >= 0 && limit <= HIGHEST_LIMIT) return;
  throw new OperationRefused('limit_malformed', `the ${window} limit must be a whole number from 0 to ${HIGHEST_LIMIT}`);
}

/** @throws OperationRefused `product_unknown` */
export async function requireProduct(db: Database, product: string): Promise<{ subscribable: boolean }> {
  const { rows } = await db.query<{ subscribable: boolean }>('SELECT daily IS NOT NULL AS subscribable FROM product WHERE id = $1', [
    product,
  ]);
  if (!rows[0]) throw new OperationRefused('product_unknown', `there is no product "${product}"`);
  return rows[0];
}

/**
 * The plan's name as the catalogue writes it.
 * @throws OperationRefused `plan_unknown`, also for a plan that is no longer offered
 */
export async function requirePlan(db: Database, product: string, plan: string): Promise<string> {
  const { rows } = await db.query<{ name: string }>('SELECT name FROM plan WHERE product_id = $1 AND active ORDER BY name', [product]);
  const found = rows.find(({ name }) => name.toLowerCase() === plan.toLowerCase());
  if (found) return found.name;
  const offered = rows.length === 0 ? 'it has none' : `it has ${rows.map(({ name }) => `"${name}"`).join(', ')}`;
  throw new OperationRefused('plan_unknown', `product "${product}" has no plan "${plan}"; ${offered}`);
}
