import { claimPaymentCheck, endPaymentCheck } from '../../selling/billing/payment-checks';
import { applyPayments } from '../../selling/billing/apply-payments';
import { listNewlyPaid } from '../../selling/billing/payment-facts';
import { type Log } from '../../kit/log';
import { askProviders } from './ask-providers';
import { type PaymentPorts, type Payments, termsOf } from '../../selling/billing/payments-of';
import { reconcilePayments } from './reconcile-payments';
import { reportOverage } from './report-overage';
import { type PaymentTools } from './take-payment';

export interface PaymentWorkOptions extends PaymentTools {
  readonly log: Log;
  readonly ports: PaymentPorts;
  /** Pause between two looks. Default 5 s. */
  readonly everyMs?: number;
}

/** Never runs the work twice at once, however often it is asked for. An error ends a run, but not the next one. */
function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void) {
  let working: Promise<void> | undefined;
  let isWanted = false;

  async function loop(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      await work().catch(onError);
    }
    // No `await` may stand in between: a call from here on starts a new loop.
    working = undefined;
  }

  return {
    /** If the work is running already, it runs once more afterwards. */
    run() {
      isWanted = true;
      working ??= loop();
    },
    isRunning: () => working !== undefined,
    async settled() {
      while (working) await working;
    },
  };
}

const EVERY_MS = 5_000;

/**
 * Acts on providers' events, asks providers for news that did not come, reconciles, and has use above limits charged. None of these waits
 * for the others: a slow provider delays nobody who has paid. Any number of processes may do so.
 */
export function startPayments(options: PaymentWorkOptions): Payments & { close(): Promise<void>; settled(): Promise<void> } {
  const { db, log, ports, clock, catalogue, everyMs = EVERY_MS } = options;
  let isEnding = false;
  const refused = new Set<string>();

  async function applyNew(): Promise<void> {
    const terms = termsOf(await catalogue());
    const failed = new Set<string>();
    for (;;) {
      const found = (await listNewlyPaid(db)).filter(({ provider, reference }) => !failed.has(`${provider} ${reference}`));
      if (found.length === 0 || isEnding) return;
      for (const each of found) {
        const state = await applyPayments(db, { ...each, terms, now: clock.now() / 1_000 }).catch((err: unknown) => {
          log.error({ err, ...each }, 'a payment could not be acted upon');
        });
        if (!state) failed.add(`${each.provider} ${each.reference}`);
      }
    }
  }

  /** Once a day, and when the command line asks for it. */
  async function compare(): Promise<void> {
    for (let id = await claimPaymentCheck(db); id !== undefined && !isEnding; id = await claimPaymentCheck(db)) {
      refused.clear();
      const report = await reconcilePayments(options, ports, () => isEnding);
      const { differences, vanished } = report;
      if (differences.length > 0 || vanished.length > 0) log.warn({ differences, vanished }, 'payments differed from their provider');
      await endPaymentCheck(db, id, report);
    }
  }

  const failed = (err: unknown): void => log.warn({ err }, 'payments could not be looked at');
  const asking = oneAtATime(() => askProviders({ ...options, isEnding: () => isEnding }, refused), failed);
  const hearing = oneAtATime(async () => {
    await applyNew();
    asking.run();
  }, failed);
  const comparing = oneAtATime(compare, failed);
  const reporting = oneAtATime(() => reportOverage({ ...options, isEnding: () => isEnding }), failed);
  const all = [hearing, asking, comparing, reporting];

  const look = (): void => {
    if (isEnding) return;
    for (const work of [hearing, asking, comparing, reporting]) work.run();
  };
  const settled = async (): Promise<void> => {
    while (all.some((work) => work.isRunning())) for (const work of all) await work.settled();
  };
  const timer = setInterval(look, everyMs).unref();
  return {
    ports,
    poke: look,
    settled,
    async close() {
      isEnding = true;
      clearInterval(timer);
      await settled();
    },
  };
}
