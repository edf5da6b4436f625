import { type BillingDetails } from '../../../plugins/core/catalogue/billing-terms';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';

const FIND = `
SELECT name, address, country, state, tax_id AS "taxId", email FROM billing_details WHERE customer_id = $1`;

/** The buyer on a customer's next invoices; undefined until the customer enters the details. */
export async function findBillingDetails(db: Database, customerId: string): Promise<BillingDetails | undefined> {
  const { rows } = await db.query<BillingDetails>(FIND, [customerId]);
  return rows[0];
}

const KEEP = `
INSERT INTO billing_details (customer_id, name, address, country, state, tax_id, email) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (customer_id) DO UPDATE SET name = excluded.name, address = excluded.address, country = excluded.country, state = excluded.state,
  tax_id = excluded.tax_id, email = excluded.email, updated_at = now()`;

/** Keeps a customer's details for future invoices. Issued invoices stay as they are. */
export function keepBillingDetails(
  db: Database,
  { customerId, details, actor }: { readonly customerId: string; readonly details: BillingDetails; readonly actor: Actor },
): Promise<void> {
  const { name, address, country, state, taxId, email } = details;
  return inTransaction(db, async (client) => {
    const before = await findBillingDetails(client, customerId);
    await client.query(KEEP, [customerId, name, address, country, state, taxId, email]);
    const changed = (['name', 'address', 'country', 'state', 'taxId', 'email'] as const).filter(
      (member) => JSON.stringify(before?.[member] ?? null) !== JSON.stringify(details[member]),
    );
    if (changed.length === 0) return;
    // The audit line has the members' names, not their values, because the log outlives the account.
    await writeAudit(client, { actor, action: 'billing.details', subject: { kind: 'customer', id: customerId }, details: { changed } });
  });
}
