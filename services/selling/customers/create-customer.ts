import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { type Customer } from './find-customer';
import { OperationRefused } from '../operations/operation-refused';
import { type Actor, writeAudit } from './write-audit';

/** No invisible characters, because the address is printed on invoices. */
const EMAIL = /^[^@\s\p{C}]+@[^@\s\p{C}]+$/u;
/** RFC 5321: the longest path is 256 with its brackets. */
const MAX_EMAIL = 254;

/** @throws OperationRefused `email_malformed`, `customer_exists` */
export async function createCustomer(db: Database, { email, actor }: { email: string; actor: Actor }): Promise<Customer> {
  const wanted = email.trim();
  if (!EMAIL.test(wanted) || wanted.length > MAX_EMAIL) {
    throw new OperationRefused('email_malformed', `"${wanted.slice(0, MAX_EMAIL)}" is not an email address`);
  }
  return inTransaction(db, async (client) => {
    const { rows } = await client.query<Customer>(
      `INSERT INTO customer (email) VALUES ($1) ON CONFLICT ((lower(email))) DO NOTHING RETURNING id, email, created_at AS "createdAt"`,
      [wanted],
    );
    const customer = rows[0];
    if (!customer) throw new OperationRefused('customer_exists', `there is a customer "${wanted}" already`);
    await writeAudit(client, {
      actor,
      action: 'customer.create',
      subject: { kind: 'customer', id: customer.id },
      details: { email: customer.email },
    });
    return customer;
  });
}
