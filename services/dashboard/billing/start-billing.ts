import { type Pool } from 'pg';
import { type Registry, Gauge } from 'prom-client';
import { windowsAt } from '../../../plugins/core/access/quota';
import { type Clock } from '../../../plugins/core/ports';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { queueReminders } from '../../selling/billing/issue-invoices';
import { type Log } from '../../kit/log';
import { billingOf } from './billing-of';

export interface BillingWorkOptions {
  readonly db: Pool;
  readonly log: Log;
  readonly clock: Clock;
  readonly timeZone: string;
  readonly catalogue: () => Promise<Catalogue>;
  /** Of the metrics. */
  readonly registry: Registry;
  /** Between two looks. Default a minute. */
  readonly everyMs?: number;
}

const EVERY_MS = 60_000;

/** Issues invoices of closed statements, and reminds of those that are overdue. Any number of processes may do so. */
export function startBilling(options: BillingWorkOptions): { close(): Promise<void> } {
  const { db, log, clock, timeZone, catalogue, registry, everyMs = EVERY_MS } = options;
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

  const look = (): void => {
    working ??= issue()
      .catch((err: unknown) => log.warn({ err }, 'invoices could not be issued'))
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
