import { isDeepStrictEqual } from 'node:util';
import { type PoolClient } from 'pg';
import { type Catalogue, type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { type CatalogueChange, compareCatalogues } from './compare-catalogues';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { planRow } from './included-limits';
import { type ProductDefinition, readAppliedCatalogue } from './read-catalogue';

/** Serialises catalogues that are applied at once, so that each is compared with what the earlier one left. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtext('tollgate catalogue'))";

/** Rows that already match are left alone, so that a start without changes sends no notifications. */
const UPSERT_PRODUCTS = `
INSERT INTO product AS old (id, title, description, daily, monthly, rate, subscribable, definition)
SELECT id, title, description, daily, monthly, rate, subscribable, definition FROM jsonb_to_recordset($1)
  AS row(id text, title text, description text, daily integer, monthly integer, rate jsonb, subscribable boolean, definition jsonb)
ON CONFLICT (id) DO UPDATE
SET title = excluded.title, description = excluded.description, daily = excluded.daily, monthly = excluded.monthly,
  rate = excluded.rate, subscribable = excluded.subscribable, definition = excluded.definition, active = true
WHERE (old.title, old.description, old.daily, old.monthly, old.rate, old.subscribable, old.definition, old.active)
  IS DISTINCT FROM
  (excluded.title, excluded.description, excluded.daily, excluded.monthly, excluded.rate, excluded.subscribable, excluded.definition, true)`;

const UPSERT_PLANS = `
INSERT INTO plan AS old (product_id, name, daily, monthly, price, currency, approval, overage, rate)
SELECT product_id, name, daily, monthly, price, currency, approval, overage, rate FROM jsonb_to_recordset($1)
  AS row(product_id text, name text, daily integer, monthly integer, price numeric, currency text, approval text, overage jsonb,
    rate jsonb)
ON CONFLICT (product_id, name) DO UPDATE
SET daily = excluded.daily, monthly = excluded.monthly, price = excluded.price, currency = excluded.currency,
  approval = excluded.approval, overage = excluded.overage, rate = excluded.rate, active = true
WHERE (old.daily, old.monthly, old.price, old.currency, old.approval, old.overage, old.rate, old.active)
  IS DISTINCT FROM
  (excluded.daily, excluded.monthly, excluded.price, excluded.currency, excluded.approval, excluded.overage, excluded.rate, true)`;

const RETIRE_PRODUCTS = 'UPDATE product SET active = false WHERE active AND id <> ALL ($1)';

const RETIRE_PLANS = `
UPDATE plan SET active = false
WHERE active AND NOT EXISTS (
  SELECT 1 FROM jsonb_to_recordset($1) AS row(product_id text, name text) WHERE row.product_id = plan.product_id AND row.name = plan.name
)`;

const RAISE_REVISION = `
UPDATE catalogue_revision SET revision = revision + 1, product_order = $2 WHERE $1 OR product_order IS DISTINCT FROM $2`;

/** Lines can move without a change of any product, so this neither raises the revision nor writes to the audit log. */
const SET_SOURCE =
  "UPDATE catalogue_revision SET source = NULLIF($1::jsonb, 'null') WHERE source IS DISTINCT FROM NULLIF($1::jsonb, 'null')";

/** A plan that somebody is about to pay for may no longer be sold on these terms: the dashboard closes the payment page then. */
const LOOK_AT_CHECKOUTS = "UPDATE checkout SET look_at = now() WHERE state = 'open'";

const SET_BILLING = "UPDATE catalogue_revision SET billing = NULLIF($1::jsonb, 'null')";

const AUDIT = `
INSERT INTO audit_log (actor, action, subject_kind, subject_id, details)
SELECT $2, action, kind, id, details FROM jsonb_to_recordset($1) AS row(action text, kind text, id text, details jsonb)`;

export interface ApplyCatalogueOptions {
  /** For the audit log. */
  readonly actor: string;
}

/**
 * Makes the catalogue what is sold, in one transaction: changed figures are updated, removed plans and products are retired (customers who
 * have them keep them), and nothing is deleted. Every change has a line in the audit log and is reported to all nodes on commit. It may run
 * at every start, and on several nodes at once; a second run changes nothing.
 * @returns what changed
 */
export function applyCatalogue(db: Database, catalogue: Catalogue, { actor }: ApplyCatalogueOptions): Promise<CatalogueChange[]> {
  return inTransaction(db, async (client) => {
    await client.query(LOCK);
    await client.query(SET_SOURCE, [JSON.stringify(catalogue.source ?? null)]);
    const applied = await readAppliedCatalogue(client);
    const changes = compareCatalogues(applied, catalogue);
    const isBillingChanged = changes.some(({ isBilling }) => isBilling);
    if (!isBillingChanged && isDeepStrictEqual(applied.products, catalogue.products)) return [];
    if (isBillingChanged) await client.query(SET_BILLING, [JSON.stringify(catalogue.billing ?? null)]);
    const isWritten = (await writeCatalogue(client, catalogue.products)) || isBillingChanged;
    if (isWritten) await client.query(LOOK_AT_CHECKOUTS);
    const order = catalogue.products.map(({ id }) => id);
    await client.query(RAISE_REVISION, [isWritten, order]);
    if (changes.length > 0) await client.query(AUDIT, [JSON.stringify(changes.map(auditEntryOf)), actor]);
    return changes;
  });
}

/** @returns whether any row changed */
async function writeCatalogue(client: PoolClient, products: readonly CatalogueProduct[]): Promise<boolean> {
  const plans = products.flatMap(({ id, plans: offered }) => offered.map((plan) => ({ product_id: id, ...planRow(plan) })));
  const written = [
    await client.query(UPSERT_PRODUCTS, [JSON.stringify(products.map(rowOf))]),
    await client.query(UPSERT_PLANS, [JSON.stringify(plans)]),
    await client.query(RETIRE_PRODUCTS, [products.map(({ id }) => id)]),
    await client.query(RETIRE_PLANS, [JSON.stringify(plans)]),
  ];
  return written.some(({ rowCount }) => (rowCount ?? 0) > 0);
}

function rowOf({ id, title, description, base, subscribable, plans, ...more }: CatalogueProduct): object {
  const definition: ProductDefinition = { ...more, plans: plans.map(({ name }) => name) };
  const { daily = null, monthly = null, rate = null } = base ?? {};
  return { id, title, description, daily, monthly, rate, subscribable, definition };
}

function auditEntryOf({ action, product, plan, fields, isBilling }: CatalogueChange): object {
  if (isBilling) return { action: 'billing.change', kind: 'billing', id: product, details: fields };
  if (plan === undefined) return { action: `product.${action}`, kind: 'product', id: product, details: fields };
  return { action: `plan.${action}`, kind: 'plan', id: `${product} ${plan}`, details: fields };
}
