import { type Database } from '../database';
import { OperationRefused } from '../operation-refused';
import { createCustomer } from './create-customer';
import { type Customer, findCustomer } from './find-customer';
import { type Actor } from './write-audit';

/** The customer that the first steps in the README use. */
export const DEMO_EMAIL = 'you@example.com';

/**
 * The customer with this e-mail address, made when there is none. Only for an address whose owner has proved to be one: a customer
 * whom an operator made has keys already.
 * @throws OperationRefused `email_malformed`
 */
export async function joinCustomer(db: Database, { email, actor }: { email: string; actor: Actor }): Promise<Customer> {
  const known = await findCustomer(db, email);
  if (known) return known;
  try {
    return await createCustomer(db, { email, actor });
  } catch (error) {
    // Another one was faster.
    const made = error instanceof OperationRefused && error.code === 'customer_exists' ? await findCustomer(db, email) : undefined;
    if (!made) throw error;
    return made;
  }
}

/** Makes sure that the demo customer exists, so that a first key can be made right after the first start. May run at every start. */
export function seedDemoCustomer(db: Database): Promise<Customer> {
  return joinCustomer(db, { email: DEMO_EMAIL, actor: 'start' });
}
