import { type Database } from '../../../plugins/stores/postgres/database';

const FIND = `
SELECT COALESCE(CASE WHEN $2 THEN d.email END, customer_mail_address(c.id), c.email) AS address
FROM customer c LEFT JOIN billing_details d ON d.customer_id = c.id WHERE c.id = $1`;

/**
 * The address for a customer's mail.
 * @param about billing goes to the address for invoices, if there is one
 */
export async function mailAddress(db: Database, customerId: string, about: 'account' | 'billing' = 'account'): Promise<string> {
  const { rows } = await db.query<{ address: string }>(FIND, [customerId, about === 'billing']);
  if (!rows[0]) throw new Error('there is no such customer');
  return rows[0].address;
}
