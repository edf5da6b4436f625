import { type Actor } from '../../selling/customers/write-audit';
import { listPaid, listResumable, type PaidSubscription } from '../../selling/paid-plans/paid-subscriptions';
import { type DashboardDeps } from '../http/dashboard-deps';
import { Refusal } from '../http/refusal';
import { changePaid } from './change-payment';

const NOT_PAUSED =
  'It is suspended, but the payment provider cannot pause the payment now. It continues unless you end it under Paid plans.';

interface PayerWish {
  readonly customerId: string;
  readonly actor: Actor;
}
interface PauseWish extends PayerWish {
  /** Null: everything that the customer pays for. */
  readonly product: string | null;
}

async function changeAll(found: readonly PaidSubscription[], kind: 'pause' | 'resume', { actor }: PayerWish, deps: DashboardDeps) {
  for (const paid of found) await changePaid(paid, { change: { kind }, actor, details: { plan: paid.plan } }, deps);
}

/**
 * Pauses the charges for what is suspended, until it is restored.
 * @throws Refusal of the provider; the suspension stays
 */
export async function pausePayments(wish: PauseWish, deps: DashboardDeps): Promise<void> {
  const paid = await listPaid(deps.db, wish.customerId);
  const isMeant = ({ product, isPaused }: PaidSubscription): boolean => !isPaused && (wish.product === null || product === wish.product);
  try {
    await changeAll(paid.filter(isMeant), 'pause', wish, deps);
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'change_refused') throw new Refusal('change_refused', { detail: NOT_PAUSED });
    throw error;
  }
}

/** Resumes the charges that were paused and lifts the suspension. */
export async function resumePayments(wish: PayerWish, deps: DashboardDeps): Promise<void> {
  await changeAll(await listResumable(deps.db, wish.customerId), 'resume', wish, deps);
}
