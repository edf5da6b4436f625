import { type Command } from 'commander';
import { MAX_RULES } from '../../plugins/core/access/max-rules';
import {
  type CustomerLimits,
  type CustomerLimitsView,
  setCustomerLimits,
  showCustomerLimits,
} from '../../services/selling/customers/customer-limits';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { table } from './output';
import { parseLimit } from '../parse-arguments';

const EXAMPLES = `
Examples:
  npx tollgate customer limits you@company.com                     show them
  npx tollgate customer limits you@company.com --keys 500          raise one of them

Revoked keys and their rules do not count. A limit below a customer's present number removes nothing, but nothing can be added.
No key can have more than ${MAX_RULES} rules.`;

interface LimitFlags {
  readonly keys?: string;
  readonly rules?: string;
  readonly writesPerMinute?: string;
}

function readLimits({ keys, rules, writesPerMinute }: LimitFlags): Partial<CustomerLimits> {
  return {
    ...(keys !== undefined && { keys: parseLimit(keys, '--keys') }),
    ...(rules !== undefined && { rules: parseLimit(rules, '--rules') }),
    ...(writesPerMinute !== undefined && { writesPerMinute: parseLimit(writesPerMinute, '--writes-per-minute') }),
  };
}

function showLimits({ limits, used }: CustomerLimitsView): string {
  const rows = [
    ['keys', used.keys, limits.keys],
    ['rules of one key', null, MAX_RULES],
    ['rules of all keys', used.rules, limits.rules],
    ['changes a minute at the dashboard', null, limits.writesPerMinute],
  ];
  return table(['', 'has', 'at most'], rows);
}

/** `tollgate customer limits`: the limits of a customer. */
export function addCustomerLimits(customer: Command, context: CommandContext): void {
  const command = customer
    .command('limits')
    .description('show or change how many keys and whitelist rules a customer may have, and how often it may change something');
  finishCommand(command.argument('<email>', 'email address or id of the customer'))
    .option('--keys <n>', 'keys, without revoked ones')
    .option('--rules <n>', 'whitelist rules of all keys')
    .option('--writes-per-minute <n>', 'changes a minute through the dashboard')
    .addHelpText('after', EXAMPLES)
    .action(async (email: string, flags: LimitFlags) => {
      const limits = readLimits(flags);
      const view = await withDatabase(context, (db) =>
        Object.keys(limits).length === 0
          ? showCustomerLimits(db, { customer: email })
          : setCustomerLimits(db, { customer: email, limits, actor: ACTOR }),
      );
      context.output.result(view, () => showLimits(view));
    });
}
