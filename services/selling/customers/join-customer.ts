import { type PoolClient } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { createCustomer } from './create-customer';
import { type Customer, findCustomer } from './find-customer';
import { type Actor, writeAudit } from './write-audit';

/** The customer that the first steps in the README use. */
export const DEMO_EMAIL = 'you@example.com';

/** The account's own organisation, else the one that it joined first. */
const HOME = `
SELECT c.id, c.email, c.created_at AS "createdAt"
FROM auth_user u JOIN member m ON m.user_id = u.id JOIN customer c ON c.id = m.customer_id
WHERE u.email = lower($1) ORDER BY (lower(c.email) = u.email) DESC, m.since, c.id LIMIT 1`;

/** Undefined for a person in no organisation. */
export async function findHome(db: Database, email: string): Promise<Customer | undefined> {
  return (await db.query<Customer>(HOME, [email.trim()])).rows[0];
}

/** The customer with this email address, created if there is none. It gets no member. @throws OperationRefused `email_malformed` */
export async function ensureCustomer(db: Database, { email, actor }: { email: string; actor: Actor }): Promise<Customer> {
  const known = await findCustomer(db, email);
  if (known) return known;
  try {
    return await createCustomer(db, { email, actor });
  } catch (error) {
    // Another process was faster.
    const made = error instanceof OperationRefused && error.code === 'customer_exists' ? await findCustomer(db, email) : undefined;
    if (!made) throw error;
    return made;
  }
}

const OWN = `
INSERT INTO member (customer_id, user_id, role)
SELECT $1, u.id, 'owner' FROM auth_user u
WHERE u.email = lower($2) AND u.email_verified AND NOT EXISTS (SELECT FROM member WHERE customer_id = $1)
ON CONFLICT DO NOTHING`;

interface Owning {
  readonly email: string;
  readonly actor: Actor;
  /** An operator had made the customer before anybody signed in. */
  readonly wasThere: boolean;
}

/** One at a time: otherwise two requests of a newcomer would both find no customer. */
async function takeOwnership(client: PoolClient, { id }: Customer, { email, actor, wasThere }: Owning): Promise<void> {
  await client.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [id]);
  const { rowCount } = await client.query(OWN, [id, email.trim()]);
  if (!rowCount || !wasThere) return;
  const details = { member: email.trim().toLowerCase(), role: 'owner' };
  await writeAudit(client, { actor, action: 'member.join', subject: { kind: 'customer', id }, details });
}

/**
 * The customer of an account, created if there is none; a customer that an operator made for the address becomes the account's. Call it
 * only for a verified address, because that customer has keys already.
 * @returns undefined for a person who left, or was removed from, the organisation of the address and is in no other
 * @throws OperationRefused `email_malformed`
 */
export async function joinCustomer(db: Database, { email, actor }: { email: string; actor: Actor }): Promise<Customer | undefined> {
  const home = await findHome(db, email);
  if (home) return home;
  const known = await findCustomer(db, email);
  const customer = known ?? (await ensureCustomer(db, { email, actor }));
  await inTransaction(db, (client) => takeOwnership(client, customer, { email, actor, wasThere: known !== undefined }));
  return findHome(db, email);
}

/**
 * Creates the customer of the README's first steps when its first key is wanted, so that these steps need no command for it. No other
 * customer is created without the seller.
 * @param customer the one that a command names
 */
export async function ensureDemoCustomer(db: Database, { customer, actor }: { customer: string; actor: Actor }): Promise<void> {
  if (customer.trim().toLowerCase() === DEMO_EMAIL) await ensureCustomer(db, { email: DEMO_EMAIL, actor });
}
