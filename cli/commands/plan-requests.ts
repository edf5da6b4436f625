import { type Command } from 'commander';
import { type Pool } from 'pg';
import { planName } from '../../services/dashboard/reference/plan-name';
import { approvePlanRequest, declinePlanRequest } from '../../services/selling/subscriptions/answer-plan-request';
import { listOpenRequests, type PlanRequestView } from '../../services/selling/subscriptions/plan-request-view';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { table } from './output';
import { parseId, parseLimit } from '../parse-arguments';
import { showMoment } from './views';

const EXAMPLES = `
Examples:
  npx tollgate subscription requests
  npx tollgate subscription approve ID
  npx tollgate subscription decline ID --reason "Please send us your company's registration first."`;

function show(requests: readonly PlanRequestView[]): string {
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

async function answer(context: CommandContext, text: string, work: (db: Pool, id: string) => Promise<PlanRequestView>): Promise<void> {
  const id = parseId(text);
  const request = await withDatabase(context, (db) => work(db, id));
  context.output.result(request, () => show([request]));
}

/** `requests`, `approve` and `decline` of `tollgate subscription`. */
export function addPlanRequestCommands(subscription: Command, context: CommandContext): void {
  finishCommand(subscription.command('requests').description('show plans that customers requested, longest waiting first'))
    .option('--limit <n>', 'how many to show', '100')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: { limit: string }) => {
      const query = { limit: parseLimit(flags.limit, '--limit') };
      const { requests } = await withDatabase(context, (db) => listOpenRequests(db, query));
      context.output.result(requests, () => show(requests));
    });
  finishCommand(subscription.command('approve').description('give the customer the requested plan, from its next request on'))
    .argument('<id>', 'id of the request')
    .addHelpText('after', EXAMPLES)
    .action((text: string) => answer(context, text, (db, id) => approvePlanRequest(db, { id, actor: ACTOR })));
  finishCommand(subscription.command('decline').description('decline a requested plan; the subscription stays as it is'))
    .argument('<id>', 'id of the request')
    .requiredOption('--reason <text>', 'for the customer to read')
    .addHelpText('after', EXAMPLES)
    .action((text: string, { reason }: { reason: string }) =>
      answer(context, text, (db, id) => declinePlanRequest(db, { id, reason, actor: ACTOR })),
    );
}
