import { type Database } from '../../../plugins/stores/postgres/database';

interface TrialWish {
  readonly product: string;
  /** Keyed hash of the mailbox. */
  readonly mailbox: string;
  readonly customerId: string;
}

/** Writes an existing row once more, so that it is returned. */
const TAKE = `
INSERT INTO trial (product_id, mailbox, customer_id) VALUES ($1, $2, $3)
ON CONFLICT (product_id, mailbox) DO UPDATE SET customer_id = trial.customer_id RETURNING customer_id = $3 AS "isOwn"`;

/**
 * Takes the one trial of a product for a mailbox.
 * @returns false if another account of the mailbox, which may be gone, had the trial
 */
export async function takeTrial(db: Database, { product, mailbox, customerId }: TrialWish): Promise<boolean> {
  return (await db.query<{ isOwn: boolean }>(TAKE, [product, mailbox, customerId])).rows[0]?.isOwn ?? false;
}
