import { type Pool } from 'pg';
import { lastClosableMonth, readStatement } from './read-statement';

/** Customers at a time, so that a process that ends has lost little. */
const BATCH = 200;

const OPEN = `
SELECT c.id, c.email FROM customer c
WHERE NOT EXISTS (SELECT FROM statement s WHERE s.customer_id = c.id AND s.month = $1::date)
  AND EXISTS (SELECT FROM subscription_term t WHERE t.customer_id = c.id AND to_char(t.since AT TIME ZONE $2, 'YYYY-MM') <= $3)
LIMIT ${BATCH}`;

/**
 * Closes all customers' statements of the last finished month, so that the seller is told. A customer who asked earlier has closed their
 * own. Several processes may do so at once: each statement is written once.
 * @param options.isEnding asked between customers
 * @returns how many were closed
 */
export async function closeStatements(
  db: Pool,
  { timeZone, now, isEnding = () => false }: { timeZone: string; now: number; isEnding?: () => boolean },
): Promise<number> {
  const month = lastClosableMonth({ timeZone, now });
  for (let closed = 0; ;) {
    const { rows } = await db.query<{ id: string; email: string }>(OPEN, [`${month}-01`, timeZone, month]);
    for (const customer of rows) {
      if (isEnding()) return closed;
      await readStatement(db, { customer, month, timeZone, now });
      closed += 1;
    }
    if (rows.length < BATCH) return closed;
  }
}
