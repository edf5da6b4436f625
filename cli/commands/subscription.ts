import { type Command } from 'commander';
import { type Pool } from 'pg';
import { type SubscriptionState } from '../../plugins/core/ports';
import { type SubscriptionView, listSubscriptions } from '../../services/selling/subscriptions/subscription-view';
import { type OwnLimitsWish } from '../../services/selling/subscriptions/subscription-terms';
import { changeSubscription, setSubscriptionState } from '../../services/selling/subscriptions/change-subscription';
import { createSubscription } from '../../services/selling/subscriptions/subscribe';
import { suspendSubscription } from '../../services/selling/suspensions/suspend';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { CommandError } from '../command-error';
import { parseId, parseLimit } from '../parse-arguments';
import { planName } from '../../services/dashboard/reference/plan-name';
import { approvePlanRequest, declinePlanRequest } from '../../services/selling/subscriptions/answer-plan-request';
import { listOpenRequests, type PlanRequestView } from '../../services/selling/subscriptions/plan-request-view';
import { addOwnLimits, type OwnLimitFlags, readOwnLimits } from './own-limits';
import { addSuspensionCommands } from './suspensions';
import { showMoment, showSubscriptions } from './views';
import { table } from './output';

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

const REQUEST_EXAMPLES = `
Examples:
  npx tollgate subscription requests
  npx tollgate subscription approve ID
  npx tollgate subscription decline ID --reason "Please send us your company's registration first."`;

function showRequests(requests: readonly PlanRequestView[]): string {
  if (requests.length === 0) return 'no open requests';
  const rows = requests.map((request) => [
    request.id,
    request.customer,
    request.product,
    request.subscriptionId === null ? null : planName(request.currentPlan),
    `${request.plan}, ${request.price} ${request.currency}`,
    showMoment(request.askedAt),
    request.reason === '' ? request.state : `${request.state}: ${request.reason}`,
  ]);
  return table(['request', 'customer', 'product', 'now on', 'asks for', 'since', 'state'], rows);
}

async function answerRequest(
  context: CommandContext,
  text: string,
  work: (db: Pool, id: string) => Promise<PlanRequestView>,
): Promise<void> {
  const id = parseId(text);
  const request = await withDatabase(context, (db) => work(db, id));
  context.output.result(request, () => showRequests([request]));
}

/** `requests`, `approve` and `decline` of `tollgate subscription`. */
function addPlanRequestCommands(subscription: Command, context: CommandContext): void {
  finishCommand(subscription.command('requests').description('show plans that customers requested, longest waiting first'))
    .option('--limit <n>', 'how many to show', '100')
    .addHelpText('after', REQUEST_EXAMPLES)
    .action(async (flags: { limit: string }) => {
      const query = { limit: parseLimit(flags.limit, '--limit') };
      const { requests } = await withDatabase(context, (db) => listOpenRequests(db, query));
      context.output.result(requests, () => showRequests(requests));
    });
  finishCommand(subscription.command('approve').description('give the customer the requested plan, from its next request on'))
    .argument('<id>', 'id of the request')
    .addHelpText('after', REQUEST_EXAMPLES)
    .action((text: string) => answerRequest(context, text, (db, id) => approvePlanRequest(db, { id, actor: ACTOR })));
  finishCommand(subscription.command('decline').description('decline a requested plan; the subscription stays as it is'))
    .argument('<id>', 'id of the request')
    .requiredOption('--reason <text>', 'for the customer to read')
    .addHelpText('after', REQUEST_EXAMPLES)
    .action((text: string, { reason }: { reason: string }) =>
      answerRequest(context, text, (db, id) => declinePlanRequest(db, { id, reason, actor: ACTOR })),
    );
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
