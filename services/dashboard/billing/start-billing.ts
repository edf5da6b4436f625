import { type Pool } from 'pg';
import { type Registry, Gauge } from 'prom-client';
import { windowsAt } from '../../../plugins/core/access/quota';
import { type Clock } from '../../../plugins/core/ports';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { claimInvoiceMail, queueReminders, settleInvoiceMail } from '../../selling/billing/claim-invoice-mails';
import { type Log } from '../../kit/log';
import { type MailSender } from '../http/dashboard-deps';
import { billingOf } from './billing-of';
import { invoiceMail } from './invoice-mail';

export interface BillingWorkOptions {
  readonly db: Pool;
  readonly log: Log;
  readonly clock: Clock;
  readonly timeZone: string;
  readonly catalogue: () => Promise<Catalogue>;
  readonly mail: MailSender;
  /** Origin of the dashboard, for links. */
  readonly url: string;
  /** Of the metrics. */
  readonly registry: Registry;
  /** Between two looks. Default a minute. */
  readonly everyMs?: number;
}

const EVERY_MS = 60_000;
/** Longer than a mail may take; then another process may try. */
const RETRY_SECONDS = 300;

/** Issues invoices of closed statements, and mails what customers are to know of them. Any number of processes may do so. */
export function startBilling(options: BillingWorkOptions): { close(): Promise<void> } {
  const { db, log, clock, timeZone, catalogue, mail, url, registry, everyMs = EVERY_MS } = options;
  const failed = new Gauge({
    name: 'tollgate_invoices_failed',
    help: 'Closed statements that could not be invoiced when this was last tried. The log names them.',
    registers: [registry],
  });
  let working: Promise<void> | undefined;
  let isEnding = false;
  const todayNow = (): string => windowsAt(clock.now() / 1_000, timeZone).day;

  async function issue(): Promise<void> {
    const port = billingOf(db, await catalogue());
    let failures = 0;
    const onFailure = ({ customerId, month }: { customerId: string; month: string }, err: unknown): void => {
      failures += 1;
      log.error({ err, customer: customerId, month }, 'a statement could not be invoiced');
    };
    const issued = await port.issueInvoices({ today: todayNow(), isEnding: () => isEnding, onFailure });
    failed.set(failures);
    if (issued > 0) log.info({ issued }, 'invoices were issued');
    if (port.provider !== 'none') await queueReminders(db, todayNow());
  }

  async function tell(): Promise<void> {
    while (!isEnding) {
      const claimed = await claimInvoiceMail(db, { retrySeconds: RETRY_SECONDS, today: todayNow() });
      if (!claimed) return;
      const letter = invoiceMail(claimed, url);
      if (letter) await mail.send(letter);
      await settleInvoiceMail(db, claimed);
    }
  }

  const look = (): void => {
    working ??= issue()
      .then(tell)
      .catch((err: unknown) => log.warn({ err }, 'invoices could not be issued or mailed'))
      .finally(() => (working = undefined));
  };
  const timer = setInterval(look, everyMs).unref();
  return {
    async close() {
      isEnding = true;
      clearInterval(timer);
      await working;
    },
  };
}
