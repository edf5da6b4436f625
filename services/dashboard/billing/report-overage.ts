import pLimit from 'p-limit';
import { type ClaimedOverage, claimOverage, refuseOverage, settleOverage } from '../../selling/billing/overage-charges';
import { type Log } from '../../kit/log';
import { useText } from '../../selling/billing/payment-invoice';
import { ProviderAway, ProviderRefused } from '../../selling/billing/payment-port';
import { type PaymentPorts } from '../../selling/billing/payments-of';
import { type PaymentTools } from './take-payment';

export interface OverageTools extends PaymentTools {
  readonly log: Log;
  readonly ports: PaymentPorts;
  readonly isEnding: () => boolean;
}

/** Requests to a provider at a time: Stripe takes 25 a second in its test mode, and a request takes a fifth of a second or more. */
const AT_ONCE = 4;

async function report(tools: OverageTools, claimed: ClaimedOverage, away: Set<string>): Promise<void> {
  const { db, log, ports, catalogue, isEnding } = tools;
  const { id, provider, reference, product, month, units, attempts, account, ...money } = claimed;
  const port = ports[provider];
  if (!port || away.has(provider) || isEnding()) return;
  const title = (await catalogue()).find(product)?.title ?? product;
  const description = useText({ title, units, month });
  const { amount, currency } = money;
  try {
    const isAgain = attempts > 1;
    const charge = await port.chargeUse(reference, { id, account: account ?? undefined, description, amount, currency, isAgain });
    await settleOverage(db, id, charge);
  } catch (error) {
    if (error instanceof ProviderAway) return void away.add(provider);
    if (!(error instanceof ProviderRefused)) throw error;
    log.error({ err: error, provider, reference, product, month }, 'use above the limits could not be charged');
    await refuseOverage(db, id, error.message);
  }
}

/**
 * Has payment providers charge the use above limits in closed statements. Each amount is charged once, however many processes do so and
 * wherever one is killed: it is claimed before the provider is asked, and a provider that may have it already is first asked for it.
 */
export async function reportOverage(tools: OverageTools): Promise<void> {
  const { db, ports, isEnding } = tools;
  const away = new Set<string>();
  const limit = pLimit(AT_ONCE);
  while (!isEnding()) {
    const providers = Object.keys(ports).filter((name) => !away.has(name));
    const claimed = await claimOverage(db, providers);
    if (claimed.length === 0) return;
    await Promise.all(claimed.map((each) => limit(() => report(tools, each, away))));
  }
}
