import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';

export interface Customer {
  readonly id: string;
  readonly email: string;
  readonly createdAt: Date;
}

/** @param customer email address (upper and lower case are the same) or id */
export async function findCustomer(db: Database, customer: string): Promise<Customer | undefined> {
  const where = isUuid(customer) ? 'id = $1' : 'lower(email) = lower($1)';
  const { rows } = await db.query<Customer>(`SELECT id, email, created_at AS "createdAt" FROM customer WHERE ${where}`, [customer.trim()]);
  return rows[0];
}

/** @throws OperationRefused `customer_unknown` */
export async function requireCustomer(db: Database, customer: string): Promise<Customer> {
  const found = await findCustomer(db, customer);
  if (!found) throw new OperationRefused('customer_unknown', `there is no customer "${customer}"`);
  return found;
}
