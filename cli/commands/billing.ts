import { setTimeout as sleep } from 'node:timers/promises';
import { type Command } from 'commander';
import { askForPaymentCheck, type PaymentReport, readPaymentCheck } from '../../services/selling/billing/payment-checks';
import { fromMinor } from '../../plugins/core/catalogue/money';
import { type CommandContext, finishCommand, withDatabase } from './command-context';
import { CommandError } from '../command-error';
import { table } from './output';

const HELP = `
Asks the payment provider about every subscription and corrects differences here. The dashboard, which has the provider's keys, does the work;
it also does it each night. Exit code 2 means that something differed, that the provider does not know a subscription (which then ends with its
period and grace), or that the provider refuses to charge for use above the limits, for example because the subscription has ended: bill that
yourself.`;

/** For scripts, as in diff(1). */
const EXIT_DIFFERED = 2;
/** A dashboard checks every 5 s; 100,000 subscriptions are 1,000 pages at the provider. */
const PATIENCE_MS = 600_000;
const POLL_MS = 500;

function show({ compared, differences, vanished, uncharged = [], problems }: PaymentReport): string {
  const rows = differences.flatMap(({ provider, subscription, customerId, product, changed }) =>
    Object.entries(changed).map(([member, [before, after]]) => [
      provider,
      subscription,
      customerId,
      product,
      member,
      String(before),
      String(after),
    ]),
  );
  const sum = `${compared} compared, ${differences.length} differed and were corrected`;
  const found = rows.length === 0 ? [] : [table(['provider', 'subscription', 'customer', 'product', 'what', 'was', 'is'], rows)];
  const unknown = vanished.map(({ provider, subscription, customerId, product }) => [provider, subscription, customerId, product]);
  const lost =
    unknown.length === 0 ? [] : ['unknown to the provider:', table(['provider', 'subscription', 'customer', 'product'], unknown)];
  const refused = uncharged.map(({ provider, customerId, product, month, amount, currency, problem }) => [
    provider,
    customerId,
    product,
    month,
    `${fromMinor(amount, currency)} ${currency}`,
    problem,
  ]);
  const owed =
    refused.length === 0
      ? []
      : ['use above the limits that is not charged:', table(['provider', 'customer', 'product', 'month', 'amount', 'why'], refused)];
  return [sum, ...found, ...lost, ...owed, ...problems].join('\n');
}

async function waitFor(read: () => Promise<PaymentReport | undefined>): Promise<PaymentReport> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await sleep(POLL_MS)) {
    const report = await read();
    if (report) return report;
  }
  throw new CommandError('dashboard_away', 'no dashboard made the comparison within 10 minutes; is one running?');
}

/** `tollgate billing` */
export function addBillingCommands(program: Command, context: CommandContext): void {
  const group = program.command('billing').description('payments of customers');
  finishCommand(group.command('reconcile').description('compare all paid subscriptions with the payment provider, and correct differences'))
    .addHelpText('after', HELP)
    .action(async () => {
      const report = await withDatabase(context, async (db) => {
        const id = await askForPaymentCheck(db);
        return waitFor(() => readPaymentCheck(db, id));
      });
      context.output.result(report, () => show(report));
      if (report.problems.length > 0) throw new CommandError('provider_away', `not all could be compared: ${report.problems.join('; ')}`);
      if (report.differences.length + report.vanished.length + (report.uncharged ?? []).length > 0) context.exitWith(EXIT_DIFFERED);
    });
}
