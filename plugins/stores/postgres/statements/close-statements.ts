import { type Pool } from 'pg';
import { lastClosableMonth, readStatement } from './read-statement';

/** Customers at a time, so that a process that ends has lost little. */
const BATCH = 200;

const OPEN = `
SELECT c.id, c.email FROM customer c
WHERE NOT EXISTS (SELECT FROM statement s WHERE s.customer_id = c.id AND s.month = $1::date) AND c.id <> ALL ($3::uuid[])
  AND EXISTS (
    SELECT FROM subscription_term t WHERE t.customer_id = c.id AND t.since < ($1::date + interval '1 month')::timestamp AT TIME ZONE $2
  )
LIMIT ${BATCH}`;

export interface ClosingOptions {
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  /** Unix seconds. */
  readonly now: number;
  /** Asked between customers. */
  readonly isEnding?: () => boolean;
  /** Told of a customer whose statement could not be closed; it is tried again with the next call. */
  readonly onFailure: (customer: { readonly id: string; readonly month: string }, error: unknown) => void;
}

/**
 * Closes all customers' statements of the last finished month, so that the seller is told. A customer who asked earlier has closed their
 * own. Several processes may do so at once: each statement is written once. A statement that fails holds up no other.
 * @returns how many were closed
 */
export async function closeStatements(db: Pool, options: ClosingOptions): Promise<number> {
  const { timeZone, now, isEnding = () => false, onFailure } = options;
  const month = lastClosableMonth({ timeZone, now });
  const failed: string[] = [];
  for (let closed = 0; ;) {
    const { rows } = await db.query<{ id: string; email: string }>(OPEN, [`${month}-01`, timeZone, failed]);
    for (const customer of rows) {
      if (isEnding()) return closed;
      try {
        await readStatement(db, { customer, month, timeZone, now });
        closed += 1;
      } catch (error) {
        failed.push(customer.id);
        onFailure({ id: customer.id, month }, error);
      }
    }
    if (rows.length < BATCH) return closed;
  }
}
