import { type Database } from '../database';
import { createCustomer } from './create-customer';
import { type Customer, findCustomer } from './find-customer';
import { OperationRefused } from '../operation-refused';

/** The customer that the first steps in the README use. */
export const DEMO_EMAIL = 'you@example.com';

/** Makes sure that the demo customer exists, so that a first key can be made right after the first start. May run at every start. */
export async function seedDemoCustomer(db: Database): Promise<Customer> {
  const found = await findCustomer(db, DEMO_EMAIL);
  if (found) return found;
  try {
    return await createCustomer(db, { email: DEMO_EMAIL, actor: 'start' });
  } catch (error) {
    // Another starter was faster.
    const other = error instanceof OperationRefused ? await findCustomer(db, DEMO_EMAIL) : undefined;
    if (!other) throw error;
    return other;
  }
}
