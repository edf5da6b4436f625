import { type PoolClient } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { type Customer, requireCustomer } from './find-customer';
import { type Actor, writeAudit } from './write-audit';

/** Maximum numbers for a customer. Revoked keys and their rules do not count. */
export interface CustomerLimits {
  readonly keys: number;
  readonly rules: number;
  /** Changes that the customer's people may make in the dashboard. */
  readonly writesPerMinute: number;
}

/**
 * For every customer without limits of its own. Every node keeps the active keys with their rules in memory, and reads them again after
 * each change: these are far more than anybody needs, and few enough that one customer cannot keep a node busy. Each write also leaves a
 * line in the audit log: two a second, all the time, are 40 MB a day.
 */
export const DEFAULT_LIMITS: CustomerLimits = { keys: 200, rules: 20_000, writesPerMinute: 120 };

export interface CustomerUse {
  readonly keys: number;
  readonly rules: number;
}

export interface CustomerLimitsView {
  readonly customer: string;
  readonly limits: CustomerLimits;
  readonly used: CustomerUse;
}

const LIMITS = `
SELECT COALESCE(keys, $2) AS keys, COALESCE(rules, $3) AS rules, COALESCE(writes_per_minute, $4) AS "writesPerMinute"
FROM customer LEFT JOIN customer_limit ON customer_id = id WHERE id = $1`;

const USED = `
SELECT count(*)::integer AS keys,
  COALESCE(sum((SELECT count(*) FROM whitelist_rule r WHERE r.credential_id = k.id)), 0)::integer AS rules
FROM credential k WHERE k.customer_id = $1 AND k.state <> 'revoked'`;

/** The limits in force for a customer: its own, else the defaults. */
export async function readLimits(db: Database, customerId: string): Promise<CustomerLimits> {
  const { keys, rules, writesPerMinute } = DEFAULT_LIMITS;
  const { rows } = await db.query<CustomerLimits>(LIMITS, [customerId, keys, rules, writesPerMinute]);
  return rows[0] ?? DEFAULT_LIMITS;
}

async function readUse(db: Database, customerId: string): Promise<CustomerUse> {
  const { rows } = await db.query<CustomerUse>(USED, [customerId]);
  return rows[0] ?? { keys: 0, rules: 0 };
}

async function viewLimits(db: Database, { id, email }: Customer): Promise<CustomerLimitsView> {
  return { customer: email, limits: await readLimits(db, id), used: await readUse(db, id) };
}

/** What is to be added to a customer. */
export interface Growth {
  readonly keys?: number;
  /** Additional rules over all its keys. */
  readonly rules: number;
}

/**
 * Refuses what would take a customer over its limits. Call it only for additions: a customer over a limit may keep everything, and have
 * less. The customer stays locked until the transaction ends, so that of two concurrent requests the second is counted after the first.
 * @param client inside the caller's transaction, which makes the addition
 * @throws OperationRefused `key_limit_reached`, `rule_limit_reached`
 */
export async function requireRoom(client: PoolClient, customerId: string, { keys = 0, rules }: Growth): Promise<void> {
  await client.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [customerId]);
  const limits = await readLimits(client, customerId);
  const used = await readUse(client, customerId);
  if (keys > 0 && used.keys + keys > limits.keys) {
    throw new OperationRefused(
      'key_limit_reached',
      `a customer can have at most ${limits.keys} keys; revoke one that is not used any more`,
    );
  }
  if (rules > 0 && used.rules + rules > limits.rules) {
    const then = used.rules + rules;
    throw new OperationRefused('rule_limit_reached', `all keys together can have at most ${limits.rules} whitelist rules, not ${then}`);
  }
}

/** The limits of a customer and what it has. @throws OperationRefused `customer_unknown` */
export async function showCustomerLimits(db: Database, { customer }: { customer: string }): Promise<CustomerLimitsView> {
  return viewLimits(db, await requireCustomer(db, customer));
}

const SET = `
INSERT INTO customer_limit AS known (customer_id, keys, rules, writes_per_minute) VALUES ($1, $2, $3, $4)
ON CONFLICT (customer_id) DO UPDATE SET keys = COALESCE($2, known.keys), rules = COALESCE($3, known.rules),
  writes_per_minute = COALESCE($4, known.writes_per_minute)`;

/**
 * Gives a customer limits of its own; absent ones stay. A limit below what the customer has removes nothing.
 * @throws OperationRefused `customer_unknown`
 */
export function setCustomerLimits(
  db: Database,
  { customer, actor, limits }: { customer: string; actor: Actor; limits: Partial<CustomerLimits> },
): Promise<CustomerLimitsView> {
  return inTransaction(db, async (client) => {
    const found = await requireCustomer(client, customer);
    const before = await readLimits(client, found.id);
    const { keys = null, rules = null, writesPerMinute = null } = limits;
    await client.query(SET, [found.id, keys, rules, writesPerMinute]);
    const view = await viewLimits(client, found);
    const details = { before, after: view.limits };
    await writeAudit(client, { actor, action: 'customer.limits', subject: { kind: 'customer', id: found.id }, details });
    return view;
  });
}
