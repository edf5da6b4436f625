import { type Pool } from 'pg';
import { closeMonth, lastClosableMonth } from './read-statement';

/** Customers at a time, so that a process that is killed loses little work. */
const BATCH = 200;

/** Customers in the order of their ids, so that a batch does not look again at those before it. */
const OPEN = `
SELECT c.id FROM customer c
WHERE c.id > $3 AND NOT EXISTS (SELECT FROM statement s WHERE s.customer_id = c.id AND s.month = $1::date)
  AND EXISTS (
    SELECT FROM subscription_term t WHERE t.customer_id = c.id AND t.since < ($1::date + interval '1 month')::timestamp AT TIME ZONE $2
  )
ORDER BY c.id LIMIT ${BATCH}`;

/** Sorts before every customer's id. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

export interface ClosingOptions {
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  /** Unix seconds. */
  readonly now: number;
  /** Called between batches of customers. */
  readonly isEnding?: () => boolean;
  /** Called for each customer whose statement could not be closed. The next call tries it again. */
  readonly onFailure: (customer: { readonly id: string; readonly month: string }, error: unknown) => void;
}

/**
 * Closes all customers' statements of the last finished month, and notifies the seller. A customer who asked earlier has already closed
 * their own. Several processes may do so at once: each statement is written once. A statement that fails delays no other.
 * @returns how many were closed
 */
export async function closeStatements(db: Pool, options: ClosingOptions): Promise<number> {
  const { timeZone, now, isEnding = () => false } = options;
  const month = lastClosableMonth({ timeZone, now });
  let closed = 0;
  for (let after = BEFORE_ALL; !isEnding();) {
    const { rows } = await db.query<{ id: string }>(OPEN, [`${month}-01`, timeZone, after]);
    const customers = rows.map(({ id }) => id);
    closed += await closeMonth(db, { customers, month, timeZone, now }).catch(() => closeEach(db, { customers, month }, options));
    after = customers.at(-1) ?? after;
    if (rows.length < BATCH) break;
  }
  return closed;
}

/** One by one, to find those that cannot be closed. */
async function closeEach(db: Pool, { customers, month }: Batch, { timeZone, now, isEnding = () => false, onFailure }: ClosingOptions) {
  let closed = 0;
  for (const id of customers) {
    if (isEnding()) break;
    try {
      closed += await closeMonth(db, { customers: [id], month, timeZone, now });
    } catch (error) {
      onFailure({ id, month }, error);
    }
  }
  return closed;
}

interface Batch {
  readonly customers: readonly string[];
  readonly month: string;
}
