import { applyPayments } from '../../selling/billing/apply-payments';
import { claimCheckout } from '../../selling/billing/checkouts';
import { claimPaid, listPaidByLeaving } from '../../selling/paid-plans/paid-subscriptions';
import { type PaymentInvoicing } from '../../selling/billing/issue-payment-invoices';
import { type GivenFact } from '../../selling/billing/payment-facts';
import { type Log } from '../../kit/log';
import { type PaymentPort, ProviderAway, ProviderRefused } from '../../selling/billing/payment-port';
import { type PaymentPorts, termsOf } from '../../selling/billing/payments-of';
import { applyFacts, isStillSold, type PaymentTools, settleCheckout } from './take-payment';

export interface AskingTools extends PaymentTools {
  readonly log: Log;
  readonly ports: PaymentPorts;
  readonly isEnding: () => boolean;
}

type Ask = <T>(provider: string, work: (port: PaymentPort) => Promise<T>) => Promise<T | undefined>;

/** A provider that does not respond is asked once in a round. The rest of the round goes on without it. */
function createAsk({ ports, log }: Pick<AskingTools, 'ports' | 'log'>): { ask: Ask; away: ReadonlySet<string> } {
  const away = new Set<string>();
  const ask: Ask = async (provider, work) => {
    const port = ports[provider];
    if (!port || away.has(provider)) return undefined;
    try {
      return await work(port);
    } catch (err) {
      if (err instanceof ProviderAway) away.add(provider);
      else if (!(err instanceof ProviderRefused)) throw err;
      log.warn({ err, provider }, err instanceof ProviderAway ? 'a payment provider is away' : 'a payment provider refused an answer');
      return undefined;
    }
  };
  return { ask, away };
}

/** Finds payments for one round of invoices. A provider that did not respond for one invoice does not delay the others. */
export function createPaymentFinder(tools: Pick<AskingTools, 'ports' | 'log'>): NonNullable<PaymentInvoicing['paymentOf']> {
  const { ask } = createAsk(tools);
  return (provider, reference) =>
    ask(provider, async (port) => port.findPayment?.(reference)).catch((err: unknown) => {
      tools.log.error({ err, provider, reference }, 'the payment of an invoice could not be looked for');
      return undefined;
    });
}

/** The provider's state of one subscription; nothing if the provider does not know it. */
export async function lookAt(port: PaymentPort, reference: string): Promise<GivenFact[]> {
  const facts: GivenFact[] = [];
  for await (const fact of port.listFacts(reference)) facts.push(fact);
  return facts;
}

async function lookAtCheckouts(tools: AskingTools, ask: Ask): Promise<void> {
  const { db, log, catalogue, isEnding } = tools;
  for (let checkout = await claimCheckout(db); checkout && !isEnding(); checkout = await claimCheckout(db)) {
    const { provider, session } = checkout;
    // The process was killed before the provider responded. Either the customer comes back, or the next request closes this checkout.
    if (session === null) continue;
    const act = checkout.isLeaving || !isStillSold(await catalogue(), checkout) ? 'close' : 'look';
    const outcome = await ask(provider, (port) => port.settleCheckout(session, act));
    const { id } = checkout;
    if (outcome)
      await settleCheckout(tools, checkout, outcome).catch((err: unknown) => log.error({ err, id }, 'a checkout could not be settled'));
  }
}

async function lookAtPaid(tools: AskingTools, ask: Ask, away: ReadonlySet<string>): Promise<void> {
  const { db, log, clock, catalogue, isEnding } = tools;
  for (let paid = await claimPaid(db); paid && !isEnding(); paid = await claimPaid(db)) {
    const { provider, reference } = paid;
    const facts = (await ask(provider, (port) => lookAt(port, reference))) ?? [];
    const now = clock.now() / 1_000;
    const options = { ...paid, terms: termsOf(await catalogue()), now, at: now, isAway: away.has(provider) };
    // What is due by the clock does not wait for a provider.
    const work = facts.length > 0 ? applyFacts(tools, provider, facts) : applyPayments(db, options);
    await work.catch((err: unknown) => log.error({ err, ...paid }, 'a paid plan could not be looked at'));
  }
}

/**
 * Asks providers about open checkouts and about periods and grace that are over, and ends the payments of deleted accounts. While a
 * provider is away, our own clock decides.
 * @param refused subscriptions whose end a provider refused; they are tried again when the set is emptied
 */
export async function askProviders(tools: AskingTools, refused: Set<string>): Promise<void> {
  const { ask, away } = createAsk(tools);
  await lookAtCheckouts(tools, ask);
  await lookAtPaid(tools, ask, away);
  for (const { provider, reference, kind } of await listPaidByLeaving(tools.db, refused)) {
    const facts = await ask(provider, (port) => port.changeSubscription(reference, { kind }));
    if (facts) await applyFacts(tools, provider, facts);
    else if (!away.has(provider)) refused.add(reference);
  }
}
