import { type Command } from 'commander';
import { type Pool } from 'pg';
import {
  createOperator,
  listOperators,
  type OperatorWish,
  removeOperator,
  resetOperator,
} from '../../services/selling/operators/change-operators';
import { type Operator } from '../../services/selling/operators/find-operator';
import { makeSetUpLink, type SetUpLink } from '../../services/dashboard/sign-in/set-up-link';
import { dataFolder } from '../supervisor/data-folder';
import { readState } from '../supervisor/instance-state';
import { CommandError } from '../command-error';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { table } from './output';
import { parseEmail } from '../parse-arguments';

const HELP = `
The link is shown once, works once, and for an hour. It leads to a page that asks for a password; the first sign-in then asks for a second
factor. Nothing can be done before both are set. If the hour is over: npx tollgate operator reset EMAIL.`;

/** Address at which browsers reach the dashboard: DASHBOARD_URL, otherwise that of the instance that runs from this folder. */
function findDashboardUrl({ root, env, isSameProcess }: CommandContext): string {
  const given = env['DASHBOARD_URL'];
  if (given !== undefined && URL.canParse(given)) return new URL(given).origin;
  const state = readState(dataFolder(root, env));
  if (state?.dashboard && isSameProcess(state.supervisor)) return state.dashboard;
  throw new CommandError('not_running', 'for the link, set DASHBOARD_URL to the address at which browsers reach the dashboard');
}

/** Both in one transaction: an operator without a link could never sign in. */
async function withLink(context: CommandContext, work: (db: Pool) => Promise<Operator>): Promise<Operator & SetUpLink> {
  const url = findDashboardUrl(context);
  return withDatabase(context, async (db) => {
    const operator = await work(db);
    return { ...operator, ...(await makeSetUpLink(db, { userId: operator.id, url })) };
  });
}

function showLink({ email, link, expiresAt }: Operator & SetUpLink): string {
  return `operator ${email}\nset a password within an hour (until ${expiresAt.toISOString()}), once, at:\n\n  ${link}\n\nshown this once`;
}

/** A command on one address that prints a link. */
function addLinkCommand(
  command: Command,
  context: CommandContext,
  act: (db: Pool, wish: OperatorWish) => Promise<Operator>,
): (email: string) => Promise<void> {
  finishCommand(command).addHelpText('after', HELP);
  return async (text) => {
    const email = parseEmail(text);
    const made = await withLink(context, (db) => act(db, { email, actor: ACTOR }));
    context.output.result(made, () => showLink(made));
  };
}

/** `tollgate operator …`: the people who run the installation on the dashboard's pages below /operator. */
export function addOperatorCommands(program: Command, context: CommandContext): void {
  const operator = program.command('operator').description('operators: people who run this installation from the pages below /operator');
  const create = operator
    .command('create')
    .description('add an operator')
    .requiredOption('--email <email>', 'an address that no customer has');
  const runCreate = addLinkCommand(create, context, createOperator);
  create.action((flags: { email: string }) => runCreate(flags.email));
  const reset = operator.command('reset').description('reset password, second factor and sessions, and print a new link');
  const runReset = addLinkCommand(reset, context, resetOperator);
  reset.argument('<email>', 'address of the operator').action(runReset);
  finishCommand(operator.command('remove').description('end the account of an operator'))
    .argument('<email>', 'address of the operator')
    .action(async (email: string) => {
      const removed = await withDatabase(context, (db) => removeOperator(db, { email: parseEmail(email), actor: ACTOR }));
      context.output.result(removed, () => `operator ${removed.email} is removed`);
    });
  finishCommand(operator.command('list').description('show the operators')).action(async () => {
    const operators = await withDatabase(context, listOperators);
    const rows = operators.map(({ email, isReady, createdAt }) => [email, isReady ? 'ready' : 'not set up', createdAt.toISOString()]);
    context.output.result(operators, () => table(['operator', 'state', 'since'], rows));
  });
}
