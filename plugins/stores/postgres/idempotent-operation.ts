import { type PoolClient } from 'pg';
import { type Database, inTransaction } from './database';

/** The same form was sent before, and what it asked for was done then. */
export class SubmissionRepeated extends Error {
  override readonly name = 'SubmissionRepeated';

  /** @param resultId what the first one made */
  constructor(readonly resultId: string) {
    super('this was submitted before');
  }
}

export interface Submission {
  readonly customerId: string;
  /** A uuid made for each form. */
  readonly submission: string;
}

/** A second sender waits here until the first has committed, and then finds its row; or goes on when the first failed. */
const CLAIM = 'INSERT INTO submission (customer_id, id) VALUES ($1, $2) ON CONFLICT DO NOTHING';
const KEEP = 'UPDATE submission SET result_id = $3 WHERE customer_id = $1 AND id = $2';
const FIND = 'SELECT result_id AS "resultId" FROM submission WHERE customer_id = $1 AND id = $2';
const PRUNE = "DELETE FROM submission WHERE customer_id = $1 AND at < now() - interval '2 days'";

/**
 * Does something once however often its form is sent, at the same time or again.
 * @param work makes something and returns its id; a failure frees the submission
 * @throws SubmissionRepeated; what `work` throws
 */
export function runIdempotently<T extends { readonly id: string }>(
  db: Database,
  { customerId, submission }: Submission,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (client) => {
    await client.query(PRUNE, [customerId]);
    const { rowCount } = await client.query(CLAIM, [customerId, submission]);
    if (!rowCount) {
      const { rows } = await client.query<{ resultId: string | null }>(FIND, [customerId, submission]);
      throw new SubmissionRepeated(rows[0]?.resultId ?? submission);
    }
    const result = await work(client);
    await client.query(KEEP, [customerId, submission, result.id]);
    return result;
  });
}
