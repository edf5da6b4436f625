import { type Command } from 'commander';
import { createCustomer } from '../../services/selling/customers/create-customer';
import { listCustomers, showCustomer } from '../../services/selling/suspensions/show-customers';
import { suspendCustomer } from '../../services/selling/suspensions/suspend';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { parseEmail, parseLimit } from '../parse-arguments';
import { MAX_RULES } from '../../plugins/core/access/max-rules';
import {
  type CustomerLimits,
  type CustomerLimitsView,
  setCustomerLimits,
  showCustomerLimits,
} from '../../services/selling/customers/customer-limits';
import { addSuspensionCommands } from './suspensions';
import { showCustomerDetails, showCustomers } from './views';
import { table } from './output';

const EXAMPLE = `
Example:
  npx tollgate customer create --email you@company.com`;

const LIST_EXAMPLES = `
Examples:
  npx tollgate customer list --search company.com
  npx tollgate customer list --after last@company.com     the next hundred`;

const EMAIL = { name: 'email', description: 'email address or id of the customer' } as const;

interface ListFlags {
  readonly search?: string;
  readonly suspended?: boolean;
  readonly after?: string;
  readonly limit: string;
}

function addReading(customer: Command, context: CommandContext): void {
  finishCommand(customer.command('list').description('show customers, ordered by email address'))
    .option('--search <text>', 'part of the address')
    .option('--suspended', 'only suspended customers')
    .option('--after <email>', 'begin after this address')
    .option('--limit <n>', 'how many to show', '100')
    .addHelpText('after', LIST_EXAMPLES)
    .action(async ({ search, suspended, after, limit }: ListFlags) => {
      const query = { search, after, onlySuspended: suspended, limit: parseLimit(limit, '--limit') };
      const customers = await withDatabase(context, (db) => listCustomers(db, query));
      context.output.result(customers, () => showCustomers(customers));
    });
  finishCommand(customer.command('show').description('show a customer, its number of keys, and its subscriptions'))
    .argument(`<${EMAIL.name}>`, EMAIL.description)
    .action(async (email: string) => {
      const details = await withDatabase(context, (db) => showCustomer(db, { customer: email }));
      context.output.result(details, () => showCustomerDetails(details));
    });
}

const LIMITS_EXAMPLES = `
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
function addCustomerLimits(customer: Command, context: CommandContext): void {
  const command = customer
    .command('limits')
    .description('show or change how many keys and whitelist rules a customer may have, and how often it may change something');
  finishCommand(command.argument('<email>', 'email address or id of the customer'))
    .option('--keys <n>', 'keys, without revoked ones')
    .option('--rules <n>', 'whitelist rules of all keys')
    .option('--writes-per-minute <n>', 'changes a minute through the dashboard')
    .addHelpText('after', LIMITS_EXAMPLES)
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

/** `tollgate customer …`: the customers to whom keys and subscriptions belong. */
export function addCustomerCommands(program: Command, context: CommandContext): void {
  const customer = program.command('customer').description('customers, who own keys and subscriptions');
  finishCommand(customer.command('create').description('add a customer').requiredOption('--email <email>', 'email address'))
    .addHelpText('after', EXAMPLE)
    .action(async (options: { email: string }) => {
      const email = parseEmail(options.email);
      const created = await withDatabase(context, (db) => createCustomer(db, { email, actor: ACTOR }));
      context.output.result(created, () => `customer ${created.email} (${created.id})`);
    });
  addReading(customer, context);
  addSuspensionCommands(customer, context, {
    argument: EMAIL,
    what: 'a customer',
    parse: (text) => text,
    suspend: (db, email, wish) => suspendCustomer(db, { customer: email, ...wish }),
    show: showCustomerDetails,
  });
  addCustomerLimits(customer, context);
}
