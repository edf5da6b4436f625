import { type PoolClient } from 'pg';
import { DEFAULT_LIMITS } from '../customers/customer-limits';
import { type Actor, writeAudits } from '../customers/write-audit';
import { ascendingId } from './ascending-id';
import { type KeyToImport } from './import-line';

/** What a customer has, and may have, while lines are judged one after the other. */
export interface ImportAccount {
  readonly id: string;
  readonly mostKeys: number;
  readonly mostRules: number;
  keys: number;
  rules: number;
}

/** Locks in id order, as requireRoom does: two imports of the same customers take turns. */
const LOCK_CUSTOMERS = `
SELECT c.id, wanted.email FROM customer c JOIN unnest($1::text[]) AS wanted (email) ON lower(c.email) = lower(wanted.email)
WHERE lower(c.email) = ANY (ARRAY(SELECT lower(email) FROM unnest($1::text[]) AS email))
ORDER BY c.id FOR NO KEY UPDATE OF c`;

/** Inserts in order: two imports that make the same customers wait for each other only once. */
const MAKE_CUSTOMERS = `
INSERT INTO customer (id, email, display_name)
SELECT DISTINCT ON (lower(email)) id, email, name FROM unnest($1::uuid[], $2::text[], $3::text[]) AS wanted (id, email, name) ORDER BY lower(email)
ON CONFLICT ((lower(email))) DO NOTHING RETURNING id, email`;

/** Rules are counted only for customers whose lines add some. */
const USE = `
SELECT c.id, COALESCE(l.keys, $3) AS "mostKeys", COALESCE(l.rules, $4) AS "mostRules",
  (SELECT count(*)::integer FROM credential k WHERE k.customer_id = c.id AND k.state <> 'revoked') AS keys,
  CASE WHEN c.rules THEN (
    SELECT count(*)::integer FROM credential k JOIN whitelist_rule r ON r.credential_id = k.id WHERE k.customer_id = c.id AND k.state <> 'revoked'
  ) ELSE 0 END AS rules
FROM unnest($1::uuid[], $2::boolean[]) AS c (id, rules) LEFT JOIN customer_limit l ON l.customer_id = c.id`;

/**
 * Locks the customers that exist.
 * @returns ids by the address as written in the lines
 */
export async function lockCustomers(client: PoolClient, lines: readonly KeyToImport[]): Promise<Map<string, string>> {
  const { rows } = await client.query<{ id: string; email: string }>(LOCK_CUSTOMERS, [[...new Set(lines.map(({ customer }) => customer))]]);
  return new Map(rows.map(({ id, email }) => [email, id]));
}

/** Makes the customers of these lines that do not exist yet. */
export async function makeCustomers(client: PoolClient, lines: readonly KeyToImport[], actor: Actor): Promise<void> {
  const names = new Map(lines.map(({ customer, customerName }) => [customer, customerName]));
  const wanted = [[...names].map(() => ascendingId()), [...names.keys()], [...names.values()]];
  const { rows } = await client.query<{ id: string; email: string }>(MAKE_CUSTOMERS, wanted);
  const made = rows.map(({ id, email }) => ({ id, details: { email }, customerId: id, label: null }));
  await writeAudits(client, { actor, action: 'customer.create', kind: 'customer' }, made);
}

/**
 * What the customers of these lines have, by their ids.
 * @param ids by the address as written in the lines
 */
export async function readAccounts(
  client: PoolClient,
  lines: readonly KeyToImport[],
  ids: ReadonlyMap<string, string>,
): Promise<Map<string, ImportAccount>> {
  const bringsRules = new Map<string, boolean>();
  for (const { customer, rules } of lines) {
    const id = ids.get(customer);
    if (id !== undefined) bringsRules.set(id, rules.length > 0 || bringsRules.get(id) === true);
  }
  const wanted = [[...bringsRules.keys()], [...bringsRules.values()], DEFAULT_LIMITS.keys, DEFAULT_LIMITS.rules];
  const { rows } = await client.query<ImportAccount>(USE, wanted);
  return new Map(rows.map((account) => [account.id, account]));
}

/** Why the customer cannot have the key of a line. */
export function findOverLimit({ mostKeys, mostRules, keys, rules }: ImportAccount, line: KeyToImport): string | undefined {
  if (keys >= mostKeys) return `a customer can have at most ${mostKeys} keys; npx tollgate customer limits raises that`;
  if (rules + line.rules.length > mostRules && line.rules.length > 0)
    return `all keys together can have at most ${mostRules} whitelist rules`;
  return undefined;
}
