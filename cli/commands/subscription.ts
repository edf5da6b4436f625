import { type Command } from 'commander';
import { type SubscriptionState } from '../../plugins/core/ports';
import { type SubscriptionView, listSubscriptions } from '../../services/selling/subscriptions/subscription-view';
import { type OwnLimitsWish } from '../../services/selling/subscriptions/subscription-terms';
import { changeSubscription } from '../../services/selling/subscriptions/change-subscription';
import { createSubscription } from '../../services/selling/subscriptions/create-subscription';
import { setSubscriptionState } from '../../services/selling/subscriptions/set-subscription-state';
import { suspendSubscription } from '../../services/selling/suspensions/suspend';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { CommandError } from '../command-error';
import { parseId } from '../parse-arguments';
import { addOwnLimits, type OwnLimitFlags, readOwnLimits } from './own-limits';
import { addPlanRequestCommands } from './plan-requests';
import { addSuspensionCommands } from './suspensions';
import { showSubscriptions } from './views';

interface TermFlags extends OwnLimitFlags {
  readonly plan?: string;
}

const CREATE_EXAMPLE = `
Example:
  npx tollgate subscription create --customer you@example.com --product weather --plan Gold`;

const CHANGE_EXAMPLE = `
Examples:
  npx tollgate subscription change ID --plan Star
  npx tollgate subscription change ID --daily 5000 --monthly 100000
  npx tollgate subscription change ID --rate 10/s --burst 20
  npx tollgate subscription change ID --base                           back to the product's base limits

A change applies from the next request on. Usage of today and this month stays counted.`;

function readTerms({ plan, ...own }: TermFlags): OwnLimitsWish & { plan?: string } {
  return { ...(plan !== undefined && { plan }), ...readOwnLimits(own) };
}

function addTerms(command: Command): Command {
  return addOwnLimits(finishCommand(command).option('--plan <name>', 'plan, for example Star'));
}

function print(context: CommandContext, subscription: SubscriptionView): void {
  context.output.result(subscription, () => showSubscriptions([subscription]));
}

function addCreate(subscription: Command, context: CommandContext): void {
  addTerms(subscription.command('create').description('subscribe a customer to a product'))
    .requiredOption('--customer <email>', 'email address or id of the customer')
    .requiredOption('--product <id>', 'product id')
    .addHelpText('after', CREATE_EXAMPLE)
    .action(async (flags: TermFlags & { customer: string; product: string }) => {
      const options = { ...readTerms(flags), customer: flags.customer, product: flags.product, actor: ACTOR };
      print(context, await withDatabase(context, (db) => createSubscription(db, options)));
    });
}

function addChange(subscription: Command, context: CommandContext): void {
  addTerms(subscription.command('change').description('change plan or limits').argument('<id>', 'id of the subscription'))
    .option('--base', 'remove the plan and the customer’s own limits')
    .addHelpText('after', CHANGE_EXAMPLE)
    .action(async (text: string, flags: TermFlags & { base?: boolean }) => {
      const id = parseId(text);
      const terms = readTerms(flags);
      const isBase = flags.base === true;
      const given = Object.keys(terms).length;
      if (isBase === given > 0) {
        throw new CommandError('invalid_argument', 'say what to change: --plan, --daily, --monthly or --rate, or --base alone');
      }
      const change = isBase ? { plan: null, daily: null, monthly: null, rate: null } : terms;
      print(context, await withDatabase(context, (db) => changeSubscription(db, { id, ...change, actor: ACTOR })));
    });
}

const STATES: readonly { name: string; state: SubscriptionState; description: string }[] = [
  { name: 'pause', state: 'paused', description: 'refuse its requests until it is resumed' },
  { name: 'resume', state: 'active', description: 'admit its requests again' },
  { name: 'cancel', state: 'cancelled', description: 'end it; subscribing again starts a new one' },
];

function addStates(subscription: Command, context: CommandContext): void {
  for (const { name, state, description } of STATES) {
    finishCommand(subscription.command(name).description(description).argument('<id>', 'id of the subscription')).action(
      async (text: string) => {
        const id = parseId(text);
        print(context, await withDatabase(context, (db) => setSubscriptionState(db, { id, state, actor: ACTOR })));
      },
    );
  }
}

function addList(subscription: Command, context: CommandContext): void {
  finishCommand(subscription.command('list').description('show the subscriptions of a customer'))
    .requiredOption('--customer <email>', 'email address or id of the customer')
    .action(async (flags: { customer: string }) => {
      const subscriptions = await withDatabase(context, (db) => listSubscriptions(db, { customer: flags.customer }));
      context.output.result(subscriptions, () => showSubscriptions(subscriptions));
    });
}

/** `tollgate subscription …` */
export function addSubscriptionCommands(program: Command, context: CommandContext): void {
  const subscription = program.command('subscription').description('subscriptions: what a customer may call, and how often');
  addCreate(subscription, context);
  addChange(subscription, context);
  addStates(subscription, context);
  addSuspensionCommands(subscription, context, {
    argument: { name: 'id', description: 'id of the subscription' },
    what: 'a subscription',
    parse: parseId,
    suspend: (db, id, wish) => suspendSubscription(db, { id, ...wish }),
    show: (view) => showSubscriptions([view]),
  });
  addPlanRequestCommands(subscription, context);
  addList(subscription, context);
}
