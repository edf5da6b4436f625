import { type PoolClient } from 'pg';
import { OperationRefused } from '../operations/operation-refused';

/** More than a program needs that pauses by the hour. */
export const MAX_CHANGES_A_DAY = 100;

/** At most so many rows are read, however many there are. */
const COUNT = `
SELECT count(*)::integer AS count FROM (
  SELECT FROM subscription_term
  WHERE customer_id = $1 AND subscription_id = $2 AND since > now() - interval '1 day' LIMIT ${MAX_CHANGES_A_DAY}
) AS begun`;

/**
 * For what begins something a customer pays for: each change leaves a row for good, which statements add up. Pausing and cancelling are
 * never refused, and can only follow one that was not.
 * @param subscription locked by the caller's transaction
 * @throws OperationRefused `change_limit_reached` after 100 changes within 24 hours
 */
export async function requireChangesLeft(
  client: PoolClient,
  { id, customerId }: { readonly id: string; readonly customerId: string },
): Promise<void> {
  const { rows } = await client.query<{ count: number }>(COUNT, [customerId, id]);
  if ((rows[0]?.count ?? 0) < MAX_CHANGES_A_DAY) return;
  const text = `the subscription was changed ${MAX_CHANGES_A_DAY} times within 24 hours; change it again later`;
  throw new OperationRefused('change_limit_reached', text);
}
