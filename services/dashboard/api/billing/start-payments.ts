import { claimCheckout, findAccount } from '../../../../plugins/stores/postgres/billing/checkouts';
import { applyPayments, claimPaid } from '../../../../plugins/stores/postgres/billing/paid-subscriptions';
import { listNewlyPaid } from '../../../../plugins/stores/postgres/billing/payment-facts';
import { type Log } from '../../../kit/log';
import { ProviderAway } from './payment-port';
import { type PaymentPorts, type Payments, termsOf } from './payments-of';
import { applyFacts, type PaymentTools, settleCheckout } from './take-payment';

export interface PaymentWorkOptions extends PaymentTools {
  readonly log: Log;
  readonly ports: PaymentPorts;
  /** Between two looks. Default 5 s. */
  readonly everyMs?: number;
}

const EVERY_MS = 5_000;

/**
 * Acts on what providers said, and asks them where they should have said something: about open checkouts, and about periods and grace that
 * are over. Any number of processes may do so.
 */
export function startPayments(options: PaymentWorkOptions): Payments & { close(): Promise<void>; settled(): Promise<void> } {
  const { db, log, ports, clock, catalogue, everyMs = EVERY_MS } = options;
  let working: Promise<void> | undefined;
  let isWanted = false;
  let isEnding = false;

  async function applyNew(): Promise<void> {
    const terms = termsOf(await catalogue());
    const failed = new Set<string>();
    for (;;) {
      const found = (await listNewlyPaid(db)).filter(({ provider, reference }) => !failed.has(`${provider} ${reference}`));
      if (found.length === 0 || isEnding) return;
      for (const each of found) {
        await applyPayments(db, { ...each, terms, now: clock.now() / 1_000 }).catch((err: unknown) => {
          failed.add(`${each.provider} ${each.reference}`);
          log.error({ err, ...each }, 'a payment could not be acted upon');
        });
      }
    }
  }

  async function lookAtCheckouts(): Promise<void> {
    for (let checkout = await claimCheckout(db); checkout && !isEnding; checkout = await claimCheckout(db)) {
      const port = ports[checkout.provider];
      if (!port) continue;
      // Its process was killed before the provider had answered: the customer comes back, or it is closed with the next wish.
      const account = await findAccount(db, checkout);
      if (checkout.session === null || account === undefined) continue;
      await settleCheckout(options, checkout, await port.settleCheckout(checkout.session, 'look'));
    }
  }

  async function lookAtPaid(): Promise<void> {
    for (let paid = await claimPaid(db); paid && !isEnding; paid = await claimPaid(db)) {
      const { provider, reference } = paid;
      try {
        await applyFacts(options, provider, (await ports[provider]?.look(reference)) ?? []);
      } finally {
        // What the clock brings about does not wait for a provider.
        await applyPayments(db, { ...paid, terms: termsOf(await catalogue()), now: clock.now() / 1_000 });
      }
    }
  }

  async function round(): Promise<void> {
    do {
      isWanted = false;
      await applyNew();
      await lookAtCheckouts();
      await lookAtPaid();
    } while (isWanted && !isEnding);
  }

  const look = (): void => {
    isWanted = true;
    working ??= round()
      .catch((err: unknown) =>
        log.warn({ err }, err instanceof ProviderAway ? 'a payment provider is away' : 'payments could not be looked at'),
      )
      .finally(() => (working = undefined));
  };
  const timer = setInterval(look, everyMs).unref();
  return {
    ports,
    poke: look,
    settled: async () => void (await working),
    async close() {
      isEnding = true;
      clearInterval(timer);
      await working;
    },
  };
}
