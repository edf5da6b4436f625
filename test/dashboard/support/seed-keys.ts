import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';

const DAY_MS = 86_400_000;

/** A key as a page shall show it; what is left out is usual. */
export interface SeedKey {
  readonly name: string | null;
  readonly lastFour?: string;
  readonly mode?: 'live' | 'test';
  readonly state?: 'active' | 'inactive' | 'revoked';
  readonly products?: readonly string[];
  readonly tags?: readonly string[];
  readonly rules?: readonly string[];
  /** Negative: it has expired. */
  readonly expiresInDays?: number;
  /** Null: never. */
  readonly usedDaysAgo?: number | null;
  /** Which of the keys beside it this one replaces. */
  readonly replaces?: number;
}

const ADD_KEYS = [
  `INSERT INTO credential (id, customer_id, hash, prefix, last_four, mode, name, state, planned_expires_at, created_at, last_used_at)
   SELECT id, $1, sha256(id::text::bytea), 'tg_' || mode, "lastFour", mode, name, state, now() + "expiresInDays" * interval '1 day',
     now() - interval '40 days' - place * interval '1 second', now() - "usedDaysAgo" * interval '1 day'`,
  'INSERT INTO credential_product (credential_id, product_id) SELECT id, unnest(products)',
  'INSERT INTO credential_tag (credential_id, tag) SELECT id, unnest(tags)',
  `INSERT INTO whitelist_rule (credential_id, kind, rule)
   SELECT id, CASE WHEN rule LIKE '%.example.%' THEN 'domain' ELSE 'ip' END, rule`,
] as const;

const FROM = `
FROM (
  SELECT * FROM json_to_recordset($2) AS row(place integer, id uuid, name text, "lastFour" text, mode text, state text, products text[],
    tags text[], rules text[], "expiresInDays" float8, "usedDaysAgo" float8) WHERE $1::uuid IS NOT NULL
) AS given`;

/** Stores keys that nobody knows the secret of, the first one as the newest. @returns their ids */
export async function seedKeys(pool: Pool, customerId: string, keys: readonly SeedKey[]): Promise<string[]> {
  const usual = { mode: 'live', state: 'active', products: ['api-ip', 'api-pincode'], tags: [], usedDaysAgo: 120_000 / DAY_MS };
  const rules = ['203.0.113.0/24', '2001:db8::/32', '*.example.com'];
  const rows = keys.map((key, place) => ({
    ...usual,
    lastFour: String(place % 10_000).padStart(4, '0'),
    rules,
    ...key,
    place,
    id: randomUUID(),
  }));
  const [intoKeys, intoProducts, intoTags, intoRules] = ADD_KEYS;
  const values = [customerId, JSON.stringify(rows)];
  for (const statement of [intoKeys, intoProducts, intoTags].map((each) => each + FROM)) await pool.query(statement, values);
  await pool.query(`${intoRules}${FROM}, unnest(rules) AS rule`, values);
  for (const { id, replaces } of rows) {
    if (replaces !== undefined) await pool.query('UPDATE credential SET rotated_from = $2 WHERE id = $1', [id, rows[replaces]?.id]);
  }
  return rows.map(({ id }) => id);
}

/** Keys in every state, with names that are not easy. */
export const USUAL_KEYS: readonly SeedKey[] = [
  { name: 'Checkout server', lastFour: '1a2B', tags: ['production', 'shop'] },
  { name: 'Warehouse', lastFour: 'P0aa', products: ['api-gst', 'api-ip', 'api-pincode', 'api-seo'], replaces: 2 },
  { name: 'Warehouse', lastFour: '77Qx', state: 'revoked', usedDaysAgo: 9 },
  { name: 'Ends soon', lastFour: '9zZ0', tags: ['campaign'], expiresInDays: 5 },
  { name: 'Last year’s campaign', lastFour: 'a9Kd', tags: ['campaign'], expiresInDays: -12 },
  { name: '<b>bold</b> & “quoted” 🚚📦', lastFour: 'e4Re', mode: 'test', rules: [], usedDaysAgo: null },
  { name: null, lastFour: '00Vb', mode: 'test', state: 'inactive' },
  { name: 'A-name-of-one-hundred-characters-'.padEnd(100, 'x'), lastFour: 'Lg1o', mode: 'test' },
];

/** More keys than a page can hold. */
export const manyKeys = (count: number): SeedKey[] =>
  Array.from({ length: count }, (_, index) => ({ name: `Customer ${String(index + 1).padStart(5, '0')}`, rules: [] }));
