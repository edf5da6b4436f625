import { type Rate } from '../../../plugins/core/catalogue/catalogue';
import { mistakeInRate } from '../../../plugins/core/catalogue/rate-bounds';
import { type Database } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';

/** A subscription's own limits, which override plan and base: requests a day, a month, and how fast. Null: those of plan and base. */
export interface OwnLimits {
  readonly daily: number | null;
  readonly monthly: number | null;
  readonly rate: Rate | null;
}

/** The limits to change. Undefined members stay. */
export type OwnLimitsWish = { readonly [limit in keyof OwnLimits]?: OwnLimits[limit] | undefined };

/** The terms of a new subscription. */
export interface SubscriptionTerms extends OwnLimitsWish {
  /** Case does not matter. Without a plan the product's base limits hold. */
  readonly plan?: string | undefined;
}

/** PostgreSQL's integer. */
const HIGHEST_LIMIT = 2_147_483_647;

/** @throws OperationRefused `limit_malformed` */
export function checkOwnLimits({ daily, monthly, rate }: OwnLimitsWish): void {
  checkLimit(daily, 'daily');
  checkLimit(monthly, 'monthly');
  const mistake = rate && mistakeInRate(rate);
  if (mistake) throw new OperationRefused('limit_malformed', mistake);
}

/** @throws OperationRefused `limit_malformed` */
export function checkLimit(limit: number | null | undefined, window: 'daily' | 'monthly'): void {
  if (limit === undefined || limit === null) return;
  if (Number.isInteger(limit) && limit >= 0 && limit <= HIGHEST_LIMIT) return;
  throw new OperationRefused('limit_malformed', `the ${window} limit must be a whole number from 0 to ${HIGHEST_LIMIT}`);
}

const FIND_PRODUCT = 'SELECT subscribable, daily IS NOT NULL AS has_limits FROM product WHERE id = $1 AND active';

interface ProductState {
  readonly subscribable: boolean;
  readonly has_limits: boolean;
}

/** @throws OperationRefused `product_unknown`, also for a product that is no longer sold */
export async function requireProduct(db: Database, product: string): Promise<ProductState> {
  const { rows } = await db.query<ProductState>(FIND_PRODUCT, [product]);
  if (!rows[0]) throw new OperationRefused('product_unknown', `there is no product "${product}"; ${await nameProducts(db)}`);
  return rows[0];
}

/** As many as people read in a message. */
const MAX_NAMED = 20;

async function nameProducts(db: Database): Promise<string> {
  const { rows } = await db.query<{ id: string }>('SELECT id FROM product WHERE active ORDER BY id');
  const more = rows.length > MAX_NAMED ? ` and ${rows.length - MAX_NAMED} more` : '';
  const named = rows.slice(0, MAX_NAMED).map(({ id }) => id);
  return rows.length === 0 ? 'there is none' : `there are ${named.join(', ')}${more}`;
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

/**
 * The same, for a product that can still be bought.
 * @throws OperationRefused `plan_unknown`, `product_unknown`, `product_without_limits`, `product_not_offered`
 */
export async function requireOfferedPlan(db: Database, product: string, plan: string): Promise<string> {
  await requireSubscribable(db, product);
  return requirePlan(db, product, plan);
}

/** @throws OperationRefused `product_unknown`, `product_without_limits`, `product_not_offered` */
export async function requireSubscribable(db: Database, product: string): Promise<void> {
  const { subscribable, has_limits: hasLimits } = await requireProduct(db, product);
  if (!hasLimits) throw new OperationRefused('product_without_limits', `product "${product}" has no limits and cannot be subscribed to`);
  if (!subscribable) throw new OperationRefused('product_not_offered', `product "${product}" is only listed and cannot be subscribed to`);
}
