import { type Command } from 'commander';
import { planName } from '../../services/dashboard/reference/plan-name';
import { requireCustomer } from '../../services/selling/customers/find-customer';
import { type MonthlyStatement, readStatement } from '../../services/selling/statements/read-statement';
import { type CommandContext, finishCommand, withDatabase } from './command-context';
import { table } from './output';
import { parseMonth } from '../parse-arguments';
import { quotaTimeZone } from './quota-time-zone';

const HELP = `
Example:
  npx tollgate statement --customer you@example.com --month 2027-03 --json

Each day on a plan costs its share of the monthly price; a day with two plans costs the more expensive one; a day on which the subscription was
paused or cancelled costs nothing. A day pays for a thirtieth of the monthly limit; use beyond that is surcharged, up to the whole price.
What a plan sells above its limits is counted by the day. A plan that a payment provider charges in advance costs only that here.
Test keys cost nothing. A statement is closed on the third day of the next month and never changes after that.
A month before the records begin has no statement: null with --json.`;

function show(statement: MonthlyStatement | null, month: string): string {
  if (statement === null) return `no statement for ${month}`;
  const { customer, timeZone, fromDay, closedAt, lines, totals } = statement;
  const title = `${customer}, ${month} from ${fromDay} (${timeZone}), ${closedAt === null ? 'so far' : 'closed'}`;
  if (lines.length === 0) return `${title}: nothing`;
  const rows = lines.map((line) => [
    line.product,
    planName(line.plan),
    line.days,
    line.requests,
    line.charged,
    line.refunded,
    line.used,
    line.monthly,
    line.test,
    line.currency === null ? null : line.isPaidInAdvance ? 'paid in advance' : `${line.price} ${line.currency}`,
    line.currency === null || line.isPaidInAdvance ? null : line.surcharge,
    line.overage && `${line.overage.units} for ${line.overage.amount}`,
    line.currency === null ? null : `${line.amount} ${line.currency}`,
  ]);
  const head = [
    'product',
    'plan',
    'days',
    'requests',
    'units used',
    'units given back',
    'counted',
    'included',
    'test keys',
    'a month',
    'surcharge',
    'above',
    'amount',
  ];
  const sums = totals.map(({ currency, amount }) => `total ${amount} ${currency}`);
  return [title, table(head, rows), ...sums].join('\n');
}

/** `tollgate statement` */
export function addStatementCommand(program: Command, context: CommandContext): void {
  finishCommand(program.command('statement').description('show what a customer used in a month, and what it costs'))
    .requiredOption('--customer <email>', 'email address or id of the customer')
    .requiredOption('--month <month>', 'a month such as 2027-03, in the quota time zone')
    .addHelpText('after', HELP)
    .action(async (flags: { customer: string; month: string }) => {
      const timeZone = quotaTimeZone(context);
      const month = parseMonth(flags.month);
      const statement = await withDatabase(context, async (db) => {
        const customer = await requireCustomer(db, flags.customer);
        return readStatement(db, { customer, month, timeZone, now: Date.now() / 1_000 });
      });
      context.output.result(statement, () => show(statement, month));
    });
}
