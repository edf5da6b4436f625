import { type Actor, writeAudit } from '../../selling/customers/write-audit';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../../selling/operations/operation-refused';
import { type PaymentPort, type SubscriptionChange } from '../../selling/billing/payment-port';
import { askSoon, listPaid, type PaidSubscription } from '../../selling/paid-plans/paid-subscriptions';
import { type DashboardDeps } from '../http/dashboard-deps';
import { Refusal } from '../http/refusal';
import { fromProvider } from './from-provider';
import { applyFacts } from './take-payment';

/** The provider of a subscription, which may not be the one that takes payments now. */
export function portOfPaid({ provider }: PaidSubscription, { payments }: DashboardDeps): PaymentPort {
  const port = payments?.ports[provider];
  if (!port) throw new Refusal('payment_off');
  return port;
}

/** @throws OperationRefused `paid_plan_unknown`, also for another customer's */
export async function requirePaid(
  { db }: DashboardDeps,
  { id, customerId }: { id: string; customerId: string },
): Promise<PaidSubscription> {
  const paid = (await listPaid(db, customerId)).find((each) => each.id === id);
  if (!paid) throw new OperationRefused('paid_plan_unknown', 'there is no paid plan with this id');
  return paid;
}

interface AskedChange {
  readonly change: SubscriptionChange;
  readonly actor: Actor;
  /** For the audit log. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Asks the provider to change a paid plan, and applies its response. If the response is lost or this process is killed, the background work
 * asks for the outcome. The audit log already says who asked for the change.
 */
export async function changePaid(paid: PaidSubscription, { change, actor, details }: AskedChange, deps: DashboardDeps): Promise<void> {
  const port = portOfPaid(paid, deps);
  const { id, customerId, product, provider, reference } = paid;
  const line = { actor, action: `payment.${change.kind}`, subject: { kind: 'customer', id: customerId } } as const;
  await inTransaction(deps.db, async (client) => {
    await askSoon(client, id);
    await writeAudit(client, { ...line, details: { product, ...details } });
  });
  try {
    await applyFacts(deps, provider, await fromProvider(port.changeSubscription(reference, change), deps));
  } catch (error) {
    // The outcome of a lost request is unknown.
    if (error instanceof Refusal && error.kind !== 'payment_away') {
      await writeAudit(deps.db, { ...line, details: { product, ...details, refused: error.kind } });
    }
    throw error;
  }
}
