import { type AuditAction } from '../customers/audit-actions';
import { type SubscriptionState } from '../../../plugins/core/ports';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { requireUnpaid } from '../paid-plans/paid-subscriptions';
import { type Consent, requireConsent } from './require-consent';
import { lockSubscription, type SubscriptionRef, type SubscriptionView } from './subscription-view';
import { type Actor, writeAudit } from '../customers/write-audit';

const ACTIONS: Record<SubscriptionState, AuditAction> = {
  active: 'subscription.resume',
  paused: 'subscription.pause',
  cancelled: 'subscription.cancel',
};

/**
 * Pauses, resumes or cancels. A subscription that is in the state already is left as it is; a cancelled one comes back only by being
 * created again.
 * @param options.consent for what resumes; see `SubscribeOptions`
 * @throws OperationRefused `subscription_unknown`, `subscription_cancelled`, `consent_required`, `consent_changed`, and `plan_paid` for what a
 * payment provider would go on charging for
 */
export function setSubscriptionState(
  db: Database,
  options: SubscriptionRef & { readonly state: SubscriptionState; readonly actor: Actor; readonly consent?: Consent | undefined },
): Promise<SubscriptionView> {
  const { state, actor, consent = true } = options;
  return inTransaction(db, async (client) => {
    const before = await lockSubscription(client, options);
    if (before.state === state) return before;
    if (before.state === 'cancelled') {
      throw new OperationRefused('subscription_cancelled', `subscription "${before.id}" is cancelled; create it again instead`);
    }
    if (state === 'cancelled') await requireUnpaid(client, before);
    if (state === 'active') await requireConsent(client, { customerId: before.customerId, product: before.product, consent, actor });
    await client.query('UPDATE subscription SET state = $2, updated_at = now() WHERE id = $1', [before.id, state]);
    await writeAudit(client, {
      actor,
      action: ACTIONS[state],
      subject: { kind: 'subscription', id: before.id },
      details: { before: before.state },
    });
    return { ...before, state };
  });
}
