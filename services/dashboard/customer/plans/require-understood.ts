import { type PoolClient } from 'pg';
import { toMinor } from '../../../../plugins/core/catalogue/money';
import { type Actor } from '../../../selling/customers/write-audit';
import { keepUnderstood } from '../../../selling/subscriptions/require-consent';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';
import { opensNothing, understoodText } from '../../reference/live-routes';
import { findPlan } from './plan-terms';

interface UnderstoodWish {
  readonly customerId: string;
  readonly product: string;
  /** Null: the base limits. */
  readonly plan: string | null;
  /** Whether the caller confirms knowing that the plan opens nothing. */
  readonly understood: boolean;
  readonly actor: Actor;
}

/**
 * For plans that begin to cost something: if live keys of the product open nothing today, the caller must have confirmed it, and the
 * confirmation is recorded with the customer's consents. Nothing is asked if the plan is free, or if it is unknown what live keys open (an
 * API of the seller's own).
 * @throws Refusal 409 `opens_nothing` with the text as a member
 */
export async function requireUnderstood(client: PoolClient, wish: UnderstoodWish, deps: DashboardDeps): Promise<void> {
  const { customerId, product, plan, understood, actor } = wish;
  const source = deps.liveSources?.find(product);
  if (!source || plan === null || !opensNothing(source)) return;
  const sold = await deps.catalogue();
  const offered = findPlan(sold, { product, plan });
  if (!offered || toMinor(offered.price, offered.currency) === 0n) return;
  const text = understoodText(sold.find(product)?.title ?? product, source);
  if (!understood) throw new Refusal('opens_nothing', { members: { text } });
  await keepUnderstood(client, { customerId, product, text, actor });
}
