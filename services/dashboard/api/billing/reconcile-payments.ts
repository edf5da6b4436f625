import { findPaidByReference, type PaidSubscription } from '../../../../plugins/stores/postgres/billing/paid-subscriptions';
import { type PaymentDifference, type PaymentReport } from '../../../../plugins/stores/postgres/billing/payment-checks';
import { type PaymentPorts } from './payments-of';
import { applyFacts, type PaymentTools } from './take-payment';

const COMPARED = ['status', 'plan', 'price', 'currency', 'periodEnd', 'cancelsAt', 'entitlement'] as const;

function changedBetween(before: PaidSubscription | undefined, after: PaidSubscription): PaymentDifference['changed'] {
  const changes = COMPARED.filter((member) => before?.[member] !== after[member]);
  return Object.fromEntries(changes.map((member) => [member, [before?.[member] ?? null, after[member]] as const]));
}

/** Compares every subscription of every provider with ours, and mends what differs. A provider that is away is a problem of the report. */
export async function reconcilePayments(tools: PaymentTools, ports: PaymentPorts, isEnding: () => boolean): Promise<PaymentReport> {
  const differences: PaymentDifference[] = [];
  const problems: string[] = [];
  let compared = 0;
  for (const port of Object.values(ports)) {
    if (!port) continue;
    try {
      for await (const fact of port.listSubscriptions()) {
        if (isEnding()) break;
        const ref = { provider: port.name, reference: fact.subscription };
        const before = await findPaidByReference(tools.db, ref);
        await applyFacts(tools, port.name, [fact]);
        const after = await findPaidByReference(tools.db, ref);
        if (!after) continue;
        compared += 1;
        const changed = changedBetween(before, after);
        const { customerId, product } = after;
        if (Object.keys(changed).length > 0)
          differences.push({ provider: port.name, subscription: ref.reference, customerId, product, changed });
      }
    } catch (error) {
      problems.push(`${port.name}: ${error instanceof Error ? error.message : 'cannot be asked'}`);
    }
  }
  return { compared, differences, problems };
}
