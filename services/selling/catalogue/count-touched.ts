import { type CatalogueChange } from './compare-catalogues';
import { type Database } from '../../../plugins/stores/postgres/database';

/** The customers, keys and subscriptions that a change reaches. */
export interface Touched {
  /** Not cancelled ones. */
  readonly subscriptions: number;
  readonly customers: number;
  /** Keys that are authorised for a removed product, except revoked ones; 0 for other changes. */
  readonly keys: number;
  /** Email addresses of some of the customers. */
  readonly examples: readonly string[];
}

/** As many customers as are read in a list. */
const MAX_EXAMPLES = 10;

/** A lower limit does not affect subscriptions with their own limit. */
const SUBSCRIPTIONS = `
SELECT w.place, count(*)::integer AS subscriptions, count(DISTINCT s.customer_id)::integer AS customers,
  (array_agg(DISTINCT c.email))[1:${MAX_EXAMPLES}] AS examples
FROM jsonb_to_recordset($1) AS w(place integer, product text, plan text, whole boolean, daily boolean, monthly boolean, rate boolean)
JOIN subscription s ON s.product_id = w.product AND s.state <> 'cancelled'
  AND (w.whole OR s.plan_name IS NOT DISTINCT FROM w.plan)
  AND (NOT (w.daily OR w.monthly OR w.rate) OR (w.daily AND s.daily_override IS NULL) OR (w.monthly AND s.monthly_override IS NULL)
    OR (w.rate AND s.rate_override IS NULL))
JOIN customer c ON c.id = s.customer_id
GROUP BY w.place`;

const KEYS = `
SELECT p.product_id AS product, count(*)::integer AS keys
FROM credential_product p JOIN credential k ON k.id = p.credential_id
WHERE p.product_id = ANY ($1) AND k.state <> 'revoked' GROUP BY p.product_id`;

type SubscriptionRow = Omit<Touched, 'keys'> & { place: number };

/**
 * For each change, in the same order, the customers that it affects. Undefined for changes that take nothing away: only lower limits, and
 * removed plans and products, affect customers.
 */
export async function countTouched(db: Database, changes: readonly CatalogueChange[]): Promise<(Touched | undefined)[]> {
  const wanted = changes.flatMap(({ action, product, plan = null, falls }, place) => {
    if (action !== 'retire' && falls.length === 0) return [];
    const whole = action === 'retire' && plan === null;
    return [
      { place, product, plan, whole, daily: falls.includes('daily'), monthly: falls.includes('monthly'), rate: falls.includes('rate') },
    ];
  });
  if (wanted.length === 0) return changes.map(() => undefined);
  const gone = wanted.filter(({ whole }) => whole).map(({ product }) => product);
  const { rows: keyRows } = await db.query<{ product: string; keys: number }>(KEYS, [gone]);
  const { rows } = await db.query<SubscriptionRow>(SUBSCRIPTIONS, [JSON.stringify(wanted)]);
  const keysOf = new Map(keyRows.map(({ product, keys }) => [product, keys]));
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  const touched = new Map(
    wanted.map(({ place, product, whole }): [number, Touched] => {
      const { subscriptions = 0, customers = 0, examples = [] } = byPlace.get(place) ?? {};
      return [place, { subscriptions, customers, keys: whole ? (keysOf.get(product) ?? 0) : 0, examples }];
    }),
  );
  return changes.map((_, place) => touched.get(place));
}
