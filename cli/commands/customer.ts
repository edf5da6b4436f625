import { type Command } from 'commander';
import { createCustomer } from '../../plugins/stores/postgres/customers/create-customer';
import { addCustomerLimits } from './customer-limits';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { parseEmail } from './parse-arguments';

const EXAMPLE = `
Example:
  npx tollgate customer create --email you@company.com`;

/** `tollgate customer …`: who keys and subscriptions belong to. */
export function addCustomerCommands(program: Command, context: CommandContext): void {
  const customer = program.command('customer').description('customers: who keys and subscriptions belong to');
  finishCommand(customer.command('create').description('add a customer').requiredOption('--email <email>', 'e-mail address'))
    .addHelpText('after', EXAMPLE)
    .action(async (options: { email: string }) => {
      const email = parseEmail(options.email);
      const created = await withDatabase(context, (db) => createCustomer(db, { email, actor: ACTOR }));
      context.output.result(created, () => `customer ${created.email} (${created.id})`);
    });
  addCustomerLimits(customer, context);
}
