import { type PoolClient } from 'pg';
import { OperationRefused } from '../operations/operation-refused';

/** More than a program that pauses by the hour needs. */
export const MAX_CHANGES_A_DAY = 100;

/** Reads at most this many rows, however many there are. */
const COUNT = `
SELECT count(*)::integer AS count FROM (
  SELECT FROM subscription_term
  WHERE customer_id = $1 AND subscription_id = $2 AND since > now() - interval '1 day' LIMIT ${MAX_CHANGES_A_DAY}
) AS begun`;

/**
 * For changes that begin something a customer pays for: each leaves a permanent row, which statements add up. Pausing and cancelling are
 * never refused, because each follows a change that was not.
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
