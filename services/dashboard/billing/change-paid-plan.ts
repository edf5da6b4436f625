import { isDeepStrictEqual } from 'node:util';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { fromMinor } from '../../../plugins/core/catalogue/money';
import { OperationRefused } from '../../selling/operations/operation-refused';
import { type SubscriptionChange, type SwitchCost } from '../../selling/billing/payment-port';
import { heldPlan, type PaidSubscription } from '../../selling/paid-plans/paid-subscriptions';
import { acceptPreview, keepPreview, type PlanPreview } from '../../selling/paid-plans/plan-previews';
import { type billingEndpoints } from '../contract/billing';
import { decideFor, findPlan, refuseOtherTerms } from '../customer/plans/plan-terms';
import { requireUnderstood } from '../customer/plans/require-understood';
import { type Handlers } from '../http/bind-endpoint';
import { type DashboardDeps } from '../http/dashboard-deps';
import { Refusal } from '../http/refusal';
import { lookAt } from './ask-providers';
import { changePaid, portOfPaid, requirePaid } from './change-payment';
import { fromProvider } from './from-provider';
import { applyFacts, termsToPay } from './take-payment';

/**
 * Another plan in place of the one that is paid, as it stands now.
 * @throws Refusal, among them `plan_free` for one that is not paid in advance; OperationRefused `plan_unknown`
 */
async function decideSwitch(paid: PaidSubscription, plan: string, deps: DashboardDeps): Promise<PlanPreview> {
  const { customerId, product } = paid;
  const sold = await deps.catalogue();
  if (!findPlan(sold, { product, plan })) throw new OperationRefused('plan_unknown', `there is no plan "${plan}"`);
  const change = await decideFor(deps.db, { customerId, product, plan }, deps);
  const offered = termsToPay(sold, { product, plan });
  const held = heldPlan(paid);
  if (!offered || !held || change.kind === 'pay') throw new Refusal('plan_free');
  const { plan: name, price, daily, monthly, overage } = offered;
  return { plan: name, price, terms: { daily, monthly, overage }, held, change };
}

function asAsked(id: string, { plan, price, held, change }: PlanPreview, title: string): SubscriptionChange {
  if (change.kind === 'keep') return { kind: 'stay' };
  const { kind: begins } = change;
  const charge = change.kind === 'now' ? change.charge : 0;
  return { kind: 'switch', id, title, plan, price, begins, charge, heldPrice: held.price };
}

/** What a change costs now, according to the provider. */
async function costOf(paid: PaidSubscription, asked: SubscriptionChange, deps: DashboardDeps): Promise<SwitchCost> {
  if (asked.kind !== 'switch') return { amount: 0, currency: paid.currency ?? '' };
  return fromProvider(portOfPaid(paid, deps).previewChange(paid.reference, asked), deps);
}

/** Reads the subscription from the provider, so that the preview is computed from what is really paid. */
async function askAnew(paid: PaidSubscription, deps: DashboardDeps): Promise<PaidSubscription> {
  const { provider, reference, id, customerId } = paid;
  await applyFacts(deps, provider, await fromProvider(lookAt(portOfPaid(paid, deps), reference), deps));
  return requirePaid(deps, { id, customerId });
}

const titleOf = async ({ product }: PaidSubscription, { catalogue }: DashboardDeps): Promise<string> =>
  (await catalogue()).find(product)?.title ?? product;

type PlanEndpoints = Pick<typeof billingEndpoints, 'POST /paid-plans/:id/preview' | 'PUT /paid-plans/:id/plan'>;

/** Changes a paid plan: the preview is shown and stored first, and can be accepted once. */
export const paidPlanHandlers: Handlers<PlanEndpoints> = {
  'POST /paid-plans/:id/preview': async ({ params: { id }, body: { plan, terms }, caller: { customerId } }, deps) => {
    const paid = await askAnew(await requirePaid(deps, { id, customerId }), deps);
    await refuseOtherTerms({ product: paid.product, plan, terms }, deps);
    const shown = await decideSwitch(paid, plan, deps);
    const { change } = shown;
    const { amount, currency } = await costOf(paid, asAsked('', shown, await titleOf(paid, deps)), deps);
    const preview = await keepPreview(deps.db, { paidId: paid.id, ...shown });
    const beginsAt = change.kind === 'next_period' ? new Date(change.at * 1_000) : null;
    const endsAt = paid.cancelsAt === null ? null : new Date(paid.cancelsAt * 1_000);
    return { preview, begins: change.kind, beginsAt, endsAt, amount: fromMinor(amount, currency), currency };
  },

  'PUT /paid-plans/:id/plan': async ({ params: { id }, body: { preview, understood }, caller: { customerId, actor } }, deps) => {
    const paid = await requirePaid(deps, { id, customerId });
    const shown = await inTransaction(deps.db, async (client) => {
      const accepted = await acceptPreview(client, { id: preview, paidId: paid.id });
      // A refusal does not use up the preview: it can still be accepted with the box ticked.
      if (accepted) await requireUnderstood(client, { customerId, product: paid.product, plan: accepted.plan, understood, actor }, deps);
      return accepted;
    });
    if (!shown) throw new Refusal('preview_old');
    const present = await decideSwitch(paid, shown.plan, deps);
    const { price, terms } = shown;
    if (!isDeepStrictEqual({ price, terms }, { price: present.price, terms: present.terms })) throw new Refusal('terms_changed');
    if (!isDeepStrictEqual({ ...shown }, { ...present })) throw new Refusal('preview_old');
    const details = { before: paid.plan, after: shown.plan, begins: shown.change.kind };
    await changePaid(paid, { change: asAsked(preview, shown, await titleOf(paid, deps)), actor, details }, deps);
  },
};
