import { fromMinor } from '../../../plugins/core/catalogue/money';
import { findPaidByReference, listGoingOn, type PaidRef, type PaidSubscription } from '../../selling/paid-plans/paid-subscriptions';
import { type PaymentDifference, type PaymentReport, type VanishedPayment } from '../../selling/billing/payment-checks';
import { type ChargeFact, type DatedFact, type RefundFact } from '../../selling/paid-plans/payment-state';
import { applyPayments } from '../../selling/billing/apply-payments';
import { listUnchargedOverage } from '../../selling/billing/overage-charges';
import { type GivenFact, keepFacts, readFacts } from '../../selling/billing/payment-facts';
import { lookAt } from './ask-providers';
import { type PaymentPort, ProviderRefused } from '../../selling/billing/payment-port';
import { type PaymentPorts, termsOf } from '../../selling/billing/payments-of';
import { applyFacts, type PaymentTools } from './take-payment';

const COMPARED = ['status', 'plan', 'price', 'currency', 'periodEnd', 'cancelsAt', 'entitlement'] as const;

function changedBetween(before: PaidSubscription | undefined, after: PaidSubscription): PaymentDifference['changed'] {
  const changes = COMPARED.filter((member) => before?.[member] !== after[member]);
  return Object.fromEntries(changes.map((member) => [member, [before?.[member] ?? null, after[member]] as const]));
}

/** Days over which charges are compared. Stripe retries a card for two weeks, so each charge is looked at every night for that long. */
const CHARGES_OF_DAYS = 15;
const DAY_SECONDS = 86_400;

type MoneyFact = ChargeFact | RefundFact;
const isMoney = (fact: GivenFact): fact is GivenFact & { readonly fact: MoneyFact } => fact.fact.kind !== 'subscription';

/** Whether the provider has reported this charge before. The refunded part of a payment can grow. */
function isTold(known: readonly DatedFact[], found: MoneyFact): boolean {
  return known.some(({ fact }) => {
    if (fact.kind === 'refunded') return found.kind === 'refunded' && fact.payment === found.payment && fact.amount >= found.amount;
    return fact.kind === found.kind && fact.invoice === found.invoice;
  });
}

/** More unknown subscriptions than this mean another account at the provider, or a wrong key. They are not looked at one by one. */
const MAX_MISSING = 1_000;

interface Comparison {
  readonly tools: PaymentTools;
  readonly port: PaymentPort;
  readonly isEnding: () => boolean;
}

/**
 * Takes over the provider's state of a subscription.
 * @returns undefined for a subscription of another program
 */
async function mend({ tools, port }: Comparison, fact: GivenFact): Promise<PaymentDifference | undefined> {
  const ref: PaidRef = { provider: port.name, reference: fact.subscription };
  const before = await findPaidByReference(tools.db, ref);
  await applyFacts(tools, port.name, [fact]);
  const after = await findPaidByReference(tools.db, ref);
  if (!after) return undefined;
  const { customerId, product } = after;
  return { provider: port.name, subscription: ref.reference, customerId, product, changed: changedBetween(before, after) };
}

/**
 * Takes over a charge or refund that no event reported.
 * @returns undefined if nothing is new, or it belongs to another program
 */
async function mendCharge({ tools, port }: Comparison, found: GivenFact & { readonly fact: MoneyFact }) {
  const { name: provider } = port;
  const paid = await findPaidByReference(tools.db, { provider, reference: found.subscription });
  // An invoice may be open although nothing is owed.
  const isOwed = paid?.status === 'failing' || paid?.status === 'ended';
  if (!paid || found.fact.amount === 0 || (found.fact.kind === 'failed' && !isOwed)) return undefined;
  if (isTold(await readFacts(tools.db, provider, found.subscription), found.fact)) return undefined;
  await keepFacts(tools.db, provider, [found]);
  const terms = termsOf(await tools.catalogue());
  await applyPayments(tools.db, { provider, reference: found.subscription, terms, now: tools.clock.now() / 1_000 });
  const { kind, invoice, amount, currency } = found.fact;
  const { customerId, product } = paid;
  const changed = { [`charge ${invoice}`]: [null, `${kind} ${fromMinor(amount, currency)} ${currency}`] as const };
  return { provider, subscription: found.subscription, customerId, product, changed };
}

/** A subscription that the provider did not list may have ended long ago. Undefined if the provider does not know it. */
async function lookAgain({ port }: Comparison, reference: string): Promise<GivenFact | undefined> {
  try {
    return (await lookAt(port, reference))[0];
  } catch (error) {
    if (error instanceof ProviderRefused) return undefined;
    throw error;
  }
}

async function compareWith(comparison: Comparison, report: { differences: PaymentDifference[]; vanished: VanishedPayment[] }) {
  const { tools, port, isEnding } = comparison;
  const seen = new Set<string>();
  let compared = 0;
  const take = async (fact: GivenFact): Promise<void> => {
    seen.add(fact.subscription);
    const found = await mend(comparison, fact);
    if (!found) return;
    compared += 1;
    if (Object.keys(found.changed).length > 0) report.differences.push(found);
  };
  const since = Math.floor(tools.clock.now() / 1_000) - CHARGES_OF_DAYS * DAY_SECONDS;
  for await (const fact of port.listFacts({ since })) {
    if (isEnding()) return compared;
    if (!isMoney(fact)) await take(fact);
    else {
      const found = await mendCharge(comparison, fact);
      if (found) report.differences.push(found);
    }
  }
  const missing = (await listGoingOn(tools.db, port.name)).filter(({ reference }) => !seen.has(reference));
  if (missing.length > MAX_MISSING)
    throw new ProviderRefused(`${missing.length} subscriptions are unknown to it: the key may be that of another account`);
  for (const { reference, customerId, product } of missing) {
    if (isEnding()) return compared;
    const fact = await lookAgain(comparison, reference);
    if (fact) await take(fact);
    else report.vanished.push({ provider: port.name, subscription: reference, customerId, product });
  }
  return compared;
}

/**
 * Compares every subscription at every provider with ours, and the charges and refunds of the last days, and mends what differs. A
 * subscription that the provider does not know is named and left: it ends with its period and grace. A provider that is away is reported as
 * a problem.
 */
export async function reconcilePayments(tools: PaymentTools, ports: PaymentPorts, isEnding: () => boolean): Promise<PaymentReport> {
  const report = { differences: [], vanished: [] };
  const problems: string[] = [];
  let compared = 0;
  for (const port of Object.values(ports)) {
    if (!port) continue;
    try {
      compared += await compareWith({ tools, port, isEnding }, report);
    } catch (error) {
      problems.push(`${port.name}: ${error instanceof Error ? error.message : 'cannot be asked'}`);
    }
  }
  return { compared, ...report, uncharged: await listUnchargedOverage(tools.db), problems };
}
