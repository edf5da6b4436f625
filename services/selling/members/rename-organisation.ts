import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';

export interface Renaming {
  readonly customerId: string;
  /** Null: it goes by its email address again. */
  readonly name: string | null;
  readonly actor: Actor;
}

/** Names the caller's own organisation. If it has this name already, the audit log gets no line. */
export function renameOrganisation(db: Database, { customerId, name, actor }: Renaming): Promise<void> {
  return inTransaction(db, async (client) => {
    const { rows } = await client.query<{ before: string | null }>(
      'SELECT display_name AS before FROM customer WHERE id = $1 FOR NO KEY UPDATE',
      [customerId],
    );
    const before = rows[0]?.before ?? null;
    if (before === name) return;
    await client.query('UPDATE customer SET display_name = $2 WHERE id = $1', [customerId, name]);
    await writeAudit(client, {
      actor,
      action: 'customer.rename',
      subject: { kind: 'customer', id: customerId },
      details: { before, after: name },
    });
  });
}

/** SQL for an organisation's name: its own, else its email address. @param customer the table's name or alias */
export const organisationOf = (customer: string): string => `COALESCE(${customer}.display_name, ${customer}.email)`;

/** Names of a customer that exists. */
export async function findOrganisation(db: Database, customerId: string): Promise<{ organisation: string; name: string | null }> {
  const { rows } = await db.query<{ organisation: string; name: string | null }>(
    `SELECT ${organisationOf('c')} AS organisation, c.display_name AS name FROM customer c WHERE c.id = $1`,
    [customerId],
  );
  return rows[0] ?? { organisation: '', name: null };
}
