import { windowsAt } from '../../../../plugins/core/access/quota';
import { claimPaymentCheck, endPaymentCheck } from '../../../../plugins/stores/postgres/billing/payment-checks';
import { claimPaymentMail, settlePaymentMail } from '../../../../plugins/stores/postgres/billing/payment-mails';
import { claimCheckout } from '../../../../plugins/stores/postgres/billing/checkouts';
import { applyPayments, claimPaid, listPaidByErased } from '../../../../plugins/stores/postgres/billing/paid-subscriptions';
import { listNewlyPaid } from '../../../../plugins/stores/postgres/billing/payment-facts';
import { type Log } from '../../../kit/log';
import { type MailSender } from '../mail/mail-sender';
import { paymentMail } from './payment-mail';
import { ProviderAway } from './payment-port';
import { type PaymentPorts, type Payments, termsOf } from './payments-of';
import { reconcilePayments } from './reconcile-payments';
import { applyFacts, type PaymentTools, settleCheckout } from './take-payment';

export interface PaymentWorkOptions extends PaymentTools {
  readonly log: Log;
  readonly ports: PaymentPorts;
  /** Without one nobody is told. */
  readonly mail?: MailSender;
  /** Origin of the dashboard. */
  readonly url: string;
  readonly timeZone: string;
  /** Between two looks. Default 5 s. */
  readonly everyMs?: number;
}

const EVERY_MS = 5_000;
/** Longer than a mail may take; then another process may try. */
const RETRY_SECONDS = 300;

/**
 * Acts on what providers said, and asks them where they should have said something: about open checkouts, and about periods and grace that
 * are over. Any number of processes may do so.
 */
export function startPayments(options: PaymentWorkOptions): Payments & { close(): Promise<void>; settled(): Promise<void> } {
  const { db, log, ports, clock, catalogue, mail, url, timeZone, everyMs = EVERY_MS } = options;
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
      if (checkout.session === null) continue;
      await settleCheckout(options, checkout, await port.settleCheckout(checkout.session, 'look'));
    }
  }

  async function lookAtPaid(): Promise<void> {
    for (let paid = await claimPaid(db); paid && !isEnding; paid = await claimPaid(db)) {
      const { provider, reference } = paid;
      try {
        for await (const fact of ports[provider]?.listSubscriptions(reference) ?? []) await applyFacts(options, provider, [fact]);
      } finally {
        // What the clock brings about does not wait for a provider.
        await applyPayments(db, { ...paid, terms: termsOf(await catalogue()), now: clock.now() / 1_000 });
      }
    }
  }

  async function endOfErased(): Promise<void> {
    for (const { provider, reference } of await listPaidByErased(db)) {
      await applyFacts(options, provider, (await ports[provider]?.changeSubscription(reference, { kind: 'end' })) ?? []);
    }
  }

  /** Once a day, and when the command line asks. */
  async function compare(): Promise<void> {
    for (let id = await claimPaymentCheck(db); id !== undefined && !isEnding; id = await claimPaymentCheck(db)) {
      const report = await reconcilePayments(options, ports, () => isEnding);
      if (report.differences.length > 0) log.warn({ differences: report.differences }, 'payments differed from their provider');
      await endPaymentCheck(db, id, report);
    }
  }

  async function tell(): Promise<void> {
    if (!mail) return;
    const sold = await catalogue();
    const dayOf = (at: Date): string => windowsAt(at.getTime() / 1_000, timeZone).day;
    for (let claimed = await claimPaymentMail(db, RETRY_SECONDS); claimed; claimed = await claimPaymentMail(db, RETRY_SECONDS)) {
      const title = sold.find(claimed.product)?.title ?? claimed.product;
      const letter = paymentMail(claimed, { title, terms: termsOf(sold), url, dayOf });
      if (letter) await mail.send(letter);
      await settlePaymentMail(db, claimed);
      if (isEnding) return;
    }
  }

  async function round(): Promise<void> {
    do {
      isWanted = false;
      await applyNew();
      await tell();
      await lookAtCheckouts();
      await lookAtPaid();
      await tell();
      await endOfErased();
      await compare();
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
