import { requireCustomer } from '../customers/find-customer';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';

/** An operator's note about a customer. Customers do not see it. */
export interface CustomerNote {
  readonly id: string;
  readonly at: Date;
  /** Email address of the operator. */
  readonly author: string;
  readonly text: string;
}

const MAX_SHOWN = 20;
const COLUMNS = 'id, at, author, text';

/** The newest first, at most 20. */
export async function listNotes(db: Database, customerId: string): Promise<CustomerNote[]> {
  const text = `SELECT ${COLUMNS} FROM customer_note WHERE customer_id = $1 ORDER BY number DESC LIMIT ${MAX_SHOWN}`;
  return (await db.query<CustomerNote>(text, [customerId])).rows;
}

/** @throws OperationRefused `customer_unknown` */
export function addNote(
  db: Database,
  { customer, author, text, actor }: { customer: string; author: string; text: string; actor: Actor },
): Promise<CustomerNote> {
  return inTransaction(db, async (client) => {
    const { id: customerId } = await requireCustomer(client, customer);
    const insert = `INSERT INTO customer_note (customer_id, author, text) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`;
    const { rows } = await client.query<CustomerNote>(insert, [customerId, author, text]);
    const note = rows[0];
    if (!note) throw new Error('the note was not stored');
    // The line is about the note, not the customer, because customers read lines about themselves.
    await writeAudit(client, { actor, action: 'customer.note', subject: { kind: 'note', id: note.id }, details: { customer: customerId } });
    return note;
  });
}
