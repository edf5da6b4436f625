import { writeAudit, type Actor } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { checkLimit } from './subscription-terms';
import { lockSubscription, type SubscriptionRef, type SubscriptionView } from './subscription-view';

/**
 * Sets or removes a customer's own cap of requests a day. A cap that is not below the limit has no effect. It counts from the next request;
 * what was used stays used.
 * @param options.cap null: none
 * @throws OperationRefused `subscription_unknown`, `subscription_cancelled`, `limit_malformed`
 */
export function setDailyCap(
  db: Database,
  options: SubscriptionRef & { readonly cap: number | null; readonly actor: Actor },
): Promise<SubscriptionView> {
  const { cap, actor } = options;
  checkLimit(cap, 'daily');
  return inTransaction(db, async (client) => {
    const before = await lockSubscription(client, options);
    if (before.state === 'cancelled') {
      throw new OperationRefused('subscription_cancelled', `subscription "${before.id}" is cancelled; create it again instead`);
    }
    if (before.dailyCap === cap) return before;
    await client.query('UPDATE subscription SET daily_cap = $2, updated_at = now() WHERE id = $1', [before.id, cap]);
    const details = { before: { dailyCap: before.dailyCap }, after: { dailyCap: cap } };
    await writeAudit(client, { actor, action: 'subscription.change', subject: { kind: 'subscription', id: before.id }, details });
    return lockSubscription(client, before);
  });
}
