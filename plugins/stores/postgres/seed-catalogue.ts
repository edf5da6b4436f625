import { type Pool, type PoolClient } from 'pg';
import { CATALOGUE, type CatalogueProduct } from '../../core/catalogue';

/** Rows that already say the same are left alone, so that a start notifies nobody of changes that are none. */
const UPSERT_PRODUCTS = `
INSERT INTO product AS old (id, title, description, daily, monthly)
SELECT * FROM jsonb_to_recordset($1) AS row(id text, title text, description text, daily integer, monthly integer)
ON CONFLICT (id) DO UPDATE
SET title = excluded.title, description = excluded.description, daily = excluded.daily, monthly = excluded.monthly
WHERE (old.title, old.description, old.daily, old.monthly)
  IS DISTINCT FROM (excluded.title, excluded.description, excluded.daily, excluded.monthly)`;

const UPSERT_PLANS = `
INSERT INTO plan AS old (product_id, name, daily, monthly, price_inr)
SELECT * FROM jsonb_to_recordset($1) AS row(product_id text, name text, daily integer, monthly integer, price_inr numeric)
ON CONFLICT (product_id, name) DO UPDATE
SET daily = excluded.daily, monthly = excluded.monthly, price_inr = excluded.price_inr, active = true
WHERE (old.daily, old.monthly, old.price_inr, old.active) IS DISTINCT FROM (excluded.daily, excluded.monthly, excluded.price_inr, true)`;

const RETIRE_PLANS = `
UPDATE plan SET active = false
WHERE active AND NOT EXISTS (
  SELECT 1 FROM jsonb_to_recordset($1) AS row(product_id text, name text) WHERE row.product_id = plan.product_id AND row.name = plan.name
)`;

/**
 * Writes products and plans of the catalogue into the database: figures that changed are updated, plans that the catalogue no longer
 * has are retired (subscriptions keep them), nothing is deleted. May run at every start, and on several nodes at once.
 */
export async function seedCatalogue(db: Pool | PoolClient, catalogue: readonly CatalogueProduct[] = CATALOGUE): Promise<void> {
  const products = catalogue.map(({ id, title, description, base }) => ({
    id,
    title,
    description,
    daily: base?.daily ?? null,
    monthly: base?.monthly ?? null,
  }));
  const plans = catalogue.flatMap(({ id, plans: offered }) =>
    offered.map(({ name, daily, monthly, priceInr }) => ({ product_id: id, name, daily, monthly, price_inr: priceInr })),
  );
  await db.query(UPSERT_PRODUCTS, [JSON.stringify(products)]);
  await db.query(UPSERT_PLANS, [JSON.stringify(plans)]);
  await db.query(RETIRE_PLANS, [JSON.stringify(plans)]);
}
