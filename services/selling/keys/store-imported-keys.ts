import { type PoolClient } from 'pg';
import { type Actor, type AuditedSubject, writeAudits } from '../customers/write-audit';
import { ascendingId } from './ascending-id';
import { auditRules } from './audit-rules';
import { type KeyToImport } from './import-line';

/** A key that is imported, of a customer that there is. */
export interface AcceptedKey extends KeyToImport {
  readonly customerId: string;
}

const STORE_KEYS = `
INSERT INTO credential (id, customer_id, hash, prefix, last_four, mode, name, planned_expires_at)
SELECT k.id, k.customer, decode(k.hash, 'hex'), k.prefix, k.last_four, k.mode, k.name, k.expires_at
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
  AS k (id, customer, hash, prefix, last_four, mode, name, expires_at)`;

/** Includes the customer and age of the key, which the triggers would otherwise look up for each row. */
const partsOf = (table: string, column: string): string => `
INSERT INTO ${table} (credential_id, customer_id, ${column}, created_at)
SELECT k.id, k.customer, k.part, now() FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS k (id, customer, part)`;
const STORE_PRODUCTS = partsOf('credential_product', 'product_id');
const STORE_TAGS = partsOf('credential_tag', 'tag');

const STORE_RULES = `
INSERT INTO whitelist_rule (credential_id, kind, rule) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[])`;

type StoredKey = AcceptedKey & { readonly id: string };

async function storeParts(client: PoolClient, statement: string, parts: readonly { key: StoredKey; part: string }[]): Promise<void> {
  if (parts.length === 0) return;
  const ids = parts.map(({ key }) => key.id);
  const customers = parts.map(({ key }) => key.customerId);
  await client.query(statement, [ids, customers, parts.map(({ part }) => part)]);
}

async function storeRules(client: PoolClient, keys: readonly StoredKey[]): Promise<void> {
  const rules = keys.flatMap(({ id, rules: each }) => each.map(({ kind, text }) => ({ id, kind, text })));
  if (rules.length === 0) return;
  const columns = [rules.map(({ id }) => id), rules.map(({ kind }) => kind), rules.map(({ text }) => text)];
  await client.query(STORE_RULES, columns);
}

function auditOf({ id, customerId, display, mode, name, expiresAt, products, tags, rules }: StoredKey): AuditedSubject {
  const texts = rules.map(({ text }) => text);
  const facts = { customer: customerId, mode, name, expiresAt, products, tags };
  const details = { ...facts, ...auditRules({ rules: texts }, texts), rotatedFrom: null };
  const label = `${display.prefix}…${display.lastFour}`;
  return { id, details, customerId, label };
}

/** Stores keys with all that belongs to them, in a statement for each table. */
export async function storeImportedKeys(client: PoolClient, accepted: readonly AcceptedKey[], actor: Actor): Promise<void> {
  if (accepted.length === 0) return;
  const keys = accepted.map((key): StoredKey => ({ ...key, id: ascendingId() }));
  await client.query(STORE_KEYS, [
    keys.map(({ id }) => id),
    keys.map(({ customerId }) => customerId),
    keys.map(({ hash }) => hash),
    keys.map(({ display }) => display.prefix),
    keys.map(({ display }) => display.lastFour),
    keys.map(({ mode }) => mode),
    keys.map(({ name }) => name),
    keys.map(({ expiresAt }) => expiresAt),
  ]);
  await storeParts(client, STORE_PRODUCTS, keys.flatMap((key) => key.products.map((part) => ({ key, part })))); // prettier-ignore
  await storeParts(client, STORE_TAGS, keys.flatMap((key) => key.tags.map((part) => ({ key, part })))); // prettier-ignore
  await storeRules(client, keys);
  await writeAudits(client, { actor, action: 'key.import', kind: 'credential' }, keys.map(auditOf));
}
