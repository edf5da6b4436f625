import { type Pool } from 'pg';
import { type Registry, Gauge } from 'prom-client';
import { type Clock } from '../../../plugins/core/ports';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { queueReminders } from '../../selling/billing/issue-invoices';
import { type PaymentPorts } from '../../selling/billing/payments-of';
import { type Log } from '../../kit/log';
import { todayOf } from '../http/dashboard-deps';
import { createPaymentFinder } from './ask-providers';
import { billingOf } from './billing-of';
import { type BillingPort } from './billing-port';

export interface BillingWorkOptions {
  readonly db: Pool;
  readonly log: Log;
  readonly clock: Clock;
  readonly timeZone: string;
  readonly catalogue: () => Promise<Catalogue>;
  readonly ports: PaymentPorts;
  /** Metrics are registered here. */
  readonly registry: Registry;
  /**
   * Milliseconds between two questions whether a look is due; see `everyMs` of the port. Default: 5 s, so that a payment has its invoice
   * within 10 s.
   */
  readonly askMs?: number;
}

const ASK_MS = 5_000;

/** Issues invoices of payments or closed statements, and mails reminders of overdue ones. Any number of processes may do so. */
export function startBilling(options: BillingWorkOptions): { close(): Promise<void> } {
  const { db, log, clock, timeZone, catalogue, ports, registry, askMs = ASK_MS } = options;
  const failed = new Gauge({
    name: 'tollgate_invoices_failed',
    help: 'Payments and closed statements that could not be invoiced when this was last tried. The log names them.',
    registers: [registry],
  });
  let working: Promise<void> | undefined;
  let isEnding = false;
  let issuedAtMs = -Infinity;

  async function issue(): Promise<void> {
    const port = billingOf(db, await catalogue(), timeZone);
    if (clock.monotonic() - issuedAtMs < port.everyMs) return;
    let failures = 0;
    const onFailure: Parameters<BillingPort['issueInvoices']>[0]['onFailure'] = ({ customerId: customer, ...about }, err) => {
      failures += 1;
      log.error({ err, customer, ...about }, 'an invoice could not be issued');
    };
    const paymentOf = createPaymentFinder({ ports, log });
    const issued = await port.issueInvoices({ today: todayOf(options), isEnding: () => isEnding, onFailure, paymentOf });
    issuedAtMs = clock.monotonic();
    failed.set(failures);
    if (issued > 0) log.info({ issued }, 'invoices were issued');
    if (port.provider !== 'none') await queueReminders(db, todayOf(options));
  }

  const look = (): void => {
    working = issue()
      .catch((err: unknown) => log.warn({ err }, 'invoices could not be issued'))
      .finally(() => {
        if (!isEnding) timer = setTimeout(look, askMs).unref();
      });
  };
  let timer = setTimeout(look, askMs).unref();
  return {
    async close() {
      isEnding = true;
      clearTimeout(timer);
      await working;
    },
  };
}
