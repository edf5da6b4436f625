import { type Pool } from 'pg';
import { createCustomer } from './create-customer';
import { type Customer, findCustomer } from './find-customer';
import { OperationRefused } from '../operation-refused';
import { type Actor } from './write-audit';

/**
 * The customer with this e-mail address, made when there is none. Only for an address whose owner has proved to be one: a customer
 * whom an operator made has keys already.
 * @throws OperationRefused `email_malformed`
 */
export async function joinCustomer(db: Pool, { email, actor }: { email: string; actor: Actor }): Promise<Customer> {
  const known = await findCustomer(db, email);
  if (known) return known;
  try {
    return await createCustomer(db, { email, actor });
  } catch (error) {
    const made = error instanceof OperationRefused && error.code === 'customer_exists' ? await findCustomer(db, email) : undefined;
    if (!made) throw error;
    return made;
  }
}
