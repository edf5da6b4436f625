import { type PoolClient } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';

/** The same form was sent before, and its request was carried out then. */
export class SubmissionRepeated extends Error {
  override readonly name = 'SubmissionRepeated';

  /** @param resultId id of what the first request made */
  constructor(readonly resultId: string) {
    super('this was submitted before');
  }
}

export interface Submission {
  readonly customerId: string;
  /** A uuid made for each form. */
  readonly submission: string;
}

interface Statements {
  /** A second request waits here until the first has committed, and then finds its row; it goes on if the first failed. */
  readonly claim: string;
  readonly keep: string;
  readonly find: string;
  readonly prune: string;
}

const OF_CUSTOMER: Statements = {
  claim: 'INSERT INTO submission (customer_id, id) VALUES ($2, $1) ON CONFLICT DO NOTHING',
  keep: 'UPDATE submission SET result_id = $3 WHERE customer_id = $2 AND id = $1',
  find: 'SELECT result_id AS "resultId" FROM submission WHERE customer_id = $2 AND id = $1',
  prune: "DELETE FROM submission WHERE customer_id = $1 AND at < now() - interval '2 days'",
};
const OF_SELLER: Statements = {
  claim: 'INSERT INTO seller_submission (id) VALUES ($1) ON CONFLICT DO NOTHING',
  keep: 'UPDATE seller_submission SET result_id = $2 WHERE id = $1',
  find: 'SELECT result_id AS "resultId" FROM seller_submission WHERE id = $1',
  prune: "DELETE FROM seller_submission WHERE at < now() - interval '2 days'",
};

async function runOnce<T extends { readonly id: string }>(
  client: PoolClient,
  { submission, owner }: { readonly submission: string; readonly owner: readonly string[] },
  { work, statements: { claim, keep, find, prune } }: { work: (client: PoolClient) => Promise<T>; statements: Statements },
): Promise<T> {
  await client.query(prune, [...owner]);
  const { rowCount } = await client.query(claim, [submission, ...owner]);
  if (!rowCount) {
    const { rows } = await client.query<{ resultId: string | null }>(find, [submission, ...owner]);
    throw new SubmissionRepeated(rows[0]?.resultId ?? submission);
  }
  const result = await work(client);
  await client.query(keep, [submission, ...owner, result.id]);
  return result;
}

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
  return inTransaction(db, (client) => runOnce(client, { submission, owner: [customerId] }, { work, statements: OF_CUSTOMER }));
}

/** The same for requests of operators, which belong to no customer. */
export function runSellersIdempotently<T extends { readonly id: string }>(
  db: Database,
  submission: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return inTransaction(db, (client) => runOnce(client, { submission, owner: [] }, { work, statements: OF_SELLER }));
}
