import { type BillingTerms } from '../../../plugins/core/catalogue/billing-terms';
import {
  type Catalogue,
  type CataloguePlan,
  type CatalogueProduct,
  type CatalogueSource,
  createCatalogue,
  type Overage,
  type Rate,
} from '../../../plugins/core/catalogue/catalogue';
import { type Database } from '../../../plugins/stores/postgres/database';
import { includedLimits } from './included-limits';

/** What a product is besides its limits and its state, as `product.definition` keeps it. */
export interface ProductDefinition extends Omit<CatalogueProduct, 'id' | 'title' | 'description' | 'base' | 'subscribable' | 'plans'> {
  /** Names, in the order in which they are shown. */
  readonly plans: readonly string[];
}

interface ProductRow {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly daily: number | null;
  readonly monthly: number | null;
  readonly rate: Rate | null;
  readonly subscribable: boolean;
  readonly definition: ProductDefinition | null;
}

type PlanRow = Omit<CataloguePlan, 'overage' | 'rate'> & {
  readonly product: string;
  readonly overage: Overage | null;
  readonly rate: Rate | null;
};

const PRODUCTS = `
SELECT p.id, p.title, p.description, p.daily, p.monthly, p.rate, p.subscribable, p.definition
FROM product p CROSS JOIN catalogue_revision r
WHERE p.active ORDER BY array_position(r.product_order, p.id), p.id`;

const PLANS = `
SELECT product_id AS product, name, price::text AS price, currency, approval, rate, ${includedLimits('plan')}
FROM plan WHERE active ORDER BY product_id, name`;

/** What is sold now: what was applied last. */
export async function readAppliedCatalogue(db: Database): Promise<Catalogue> {
  const { rows: products } = await db.query<ProductRow>(PRODUCTS);
  const { rows: plans } = await db.query<PlanRow>(PLANS);
  const byProduct = new Map<string, (typeof plans)[number][]>();
  for (const plan of plans) byProduct.set(plan.product, [...(byProduct.get(plan.product) ?? []), plan]);
  const { rows: revisions } = await db.query<{ billing: BillingTerms | null }>('SELECT billing FROM catalogue_revision');
  const billing = revisions[0]?.billing ?? undefined;
  return createCatalogue(
    products.map((row) => productOf(row, byProduct.get(row.id) ?? [])),
    { billing },
  );
}

function productOf(row: ProductRow, rows: readonly PlanRow[]): CatalogueProduct {
  const { id, title, description, daily, monthly, rate, subscribable, definition } = row;
  const { prefix = null, routes = [], plans: order = [], ...optional } = definition ?? {};
  const plans = rows
    .map(({ product: _product, overage, rate: pace, ...plan }) => ({ ...plan, ...(overage && { overage }), ...(pace && { rate: pace }) }))
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  const base = daily === null || monthly === null ? null : { daily, monthly, ...(rate && { rate }) };
  return { id, title, description, prefix, routes, base, subscribable, plans, ...optional };
}

/**
 * @returns where the products stand in the file that was applied last; undefined if it came from no file, or from a version that did not
 * record this
 */
export async function readCatalogueSource(db: Database): Promise<CatalogueSource | undefined> {
  const { rows } = await db.query<{ source: CatalogueSource | null }>('SELECT source FROM catalogue_revision');
  return rows[0]?.source ?? undefined;
}

/** Changes whenever {@link readAppliedCatalogue} would return something else. */
export async function readCatalogueRevision(db: Database): Promise<string> {
  const { rows } = await db.query<{ revision: string }>('SELECT revision::text FROM catalogue_revision');
  return rows[0]?.revision ?? '';
}
