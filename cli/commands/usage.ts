import { type Command } from 'commander';
import { type Pool } from 'pg';
import { describeRate } from '../../plugins/core/access/rate';
import { windowsAt } from '../../plugins/core/access/quota';
import { planName } from '../../services/dashboard/reference/plan-name';
import { requireCustomer } from '../../services/selling/customers/find-customer';
import { type SubscriptionView, viewSubscriptions } from '../../services/selling/subscriptions/subscription-view';
import { type DailyUsage, readUsage } from '../../services/selling/subscriptions/usage-read';
import { type CommandContext, finishCommand, withDatabase } from './command-context';
import { table } from './output';
import { parseDay } from '../parse-arguments';
import { quotaTimeZone } from './quota-time-zone';
import { type SubscriptionSummary, summariseSubscription } from './views';

const EXAMPLES = `
Examples:
  npx tollgate usage --customer you@example.com
  npx tollgate usage --customer you@example.com --day 2027-03-31 --json

Test keys have counts of their own, with the same limits. A day ends at midnight in QUOTA_TIMEZONE. Refused requests do not count. A request
that failed through no fault of the caller is given back, up to a tenth of the daily limit.`;

/** Usage of the keys of one mode on a day, and in its month up to that day. Counts are requests. */
interface ModeUsage {
  readonly usedDaily: number;
  readonly usedMonthly: number;
  readonly remainingDaily: number;
  readonly remainingMonthly: number;
  /** Requests given back on that day. */
  readonly refundedDaily: number;
}

/** A subscription, with the usage of its live keys. */
interface SubscriptionUsage extends SubscriptionSummary, ModeUsage {
  readonly state: string;
  /** Usage of test keys, which have the same limits separately. */
  readonly test: ModeUsage;
}

interface UsageReport {
  readonly customer: string;
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly day: string;
  readonly timeZone: string;
  readonly subscriptions: readonly SubscriptionUsage[];
}

function sum(days: readonly DailyUsage[], member: 'used' | 'refunded'): number {
  return days.reduce((total, each) => total + each[member], 0);
}

function modeUsage(view: SubscriptionView, own: readonly DailyUsage[], day: string): ModeUsage {
  const today = own.filter((each) => each.day === day);
  const usedDaily = sum(today, 'used');
  const usedMonthly = sum(own, 'used');
  return {
    usedDaily,
    usedMonthly,
    remainingDaily: Math.max(0, view.daily - usedDaily),
    remainingMonthly: Math.max(0, view.monthly - usedMonthly),
    refundedDaily: sum(today, 'refunded'),
  };
}

function usageOf(view: SubscriptionView, month: readonly DailyUsage[], day: string): SubscriptionUsage {
  const own = month.filter(({ subscriptionId }) => subscriptionId === view.id);
  const of = (mode: DailyUsage['mode']): ModeUsage =>
    modeUsage(
      view,
      own.filter((each) => each.mode === mode),
      day,
    );
  return { ...summariseSubscription(view), state: view.state, ...of('live'), test: of('test') };
}

async function readReport(db: Pool, customer: string, { day, timeZone }: { day: string; timeZone: string }): Promise<UsageReport> {
  const { id, email } = await requireCustomer(db, customer);
  const [subscriptions, month] = [
    await viewSubscriptions(db, id),
    await readUsage(db, { customerId: id, fromDay: `${day.slice(0, 7)}-01`, toDay: day }),
  ];
  return { customer: email, day, timeZone, subscriptions: subscriptions.map((view) => usageOf(view, month, day)) };
}

function show({ customer, day, timeZone, subscriptions }: UsageReport): string {
  const title = `${customer}, ${day} (${timeZone})`;
  if (subscriptions.length === 0) return `${title}: no subscriptions`;
  const withRate = subscriptions.some(({ rate }) => rate);
  const rows = subscriptions.flatMap((each) => {
    const row = (keys: string, { usedDaily, usedMonthly, refundedDaily }: ModeUsage): (string | number | null)[] => [
      each.product,
      planName(each.plan),
      each.state,
      keys,
      `${usedDaily} of ${each.daily}`,
      `${usedMonthly} of ${each.monthly}`,
      refundedDaily,
      ...(withRate ? [each.rate ? describeRate(each.rate) : null] : []),
    ];
    return [row('live', each), ...(each.test.usedMonthly + each.test.refundedDaily > 0 ? [row('test', each.test)] : [])];
  });
  return `${title}\n${table(['product', 'plan', 'state', 'keys', 'day', 'month', 'given back', ...(withRate ? ['rate'] : [])], rows)}`;
}

/** `tollgate usage` */
export function addUsageCommand(program: Command, context: CommandContext): void {
  finishCommand(program.command('usage').description('show how much of its limits a customer used'))
    .requiredOption('--customer <email>', 'email address or id of the customer')
    .option('--day <day>', 'a day such as 2027-03-31, in the quota time zone (default: today)')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: { customer: string; day?: string }) => {
      const timeZone = quotaTimeZone(context);
      const day = flags.day === undefined ? windowsAt(Date.now() / 1_000, timeZone).day : parseDay(flags.day);
      const report = await withDatabase(context, (db) => readReport(db, flags.customer, { day, timeZone }));
      context.output.result(report, () => show(report));
    });
}
