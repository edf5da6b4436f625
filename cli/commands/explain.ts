import { type Command } from 'commander';
import { type ExplainedProduct, type Explanation, explainRequest } from '../../services/selling/requests/explain';
import { findRequest } from '../../services/selling/requests/find-request';
import { type CommandContext, finishCommand, withDatabase } from './command-context';
import { CommandError } from '../command-error';
import { parseRequestId } from '../parse-arguments';

const EXAMPLE = `
Example:
  npx tollgate explain 2c7a5b1d0e4f4c6c9b6a8d2f1e3c5a7b

The request id is in the response's header X-Kong-Request-Id, and as request_id in the body of a refusal. A request can be explained from a
second after its response, for 7 days. Status, time and cost appear some seconds later, when the gateway has reported them.`;

const SIGNS = { passed: '✓', failed: '✗', 'not reached': '·' } as const;

function failingOf(product: ExplainedProduct | null): string {
  if (!product?.since) return '';
  return product.until === null ? ` Failing since ${product.since}.` : ` Failing from ${product.since} to ${product.until}.`;
}

function responseOf({ answer }: Explanation): string[] {
  if (!answer || answer.milliseconds === null) return [];
  const { status, milliseconds, bytes, units, charge } = answer;
  const cost = units === null ? [] : [`units ${units}`];
  return [
    `response, as the gateway reported it: ${[status, `${milliseconds} ms`, `${bytes} bytes`, ...cost, charge.replace('_', ' ')].join(', ')}`,
  ];
}

function show(explanation: Explanation): string {
  const { requestId, at, outcome, summary, product, checks, remedy } = explanation;
  const lines = checks.map(({ check, outcome: result, saw }) => `${SIGNS[result]} ${check}${saw === '' ? '' : `: ${saw}`}`);
  return [
    `${summary}${failingOf(product)}`,
    `request ${requestId} at ${at}: ${outcome}`,
    ...lines,
    ...responseOf(explanation),
    ...(remedy === '' ? [] : [`→ ${remedy}`]),
  ].join('\n');
}

/** `tollgate explain REQUEST_ID` */
export function addExplainCommand(program: Command, context: CommandContext): void {
  finishCommand(program.command('explain').description('show what the caller got, which checks the request passed, and how to fix it'))
    .argument('<request-id>', 'header X-Kong-Request-Id of the response')
    .addHelpText('after', EXAMPLE)
    .action(async (text: string) => {
      const requestId = parseRequestId(text);
      const request = await withDatabase(context, (db) => findRequest(db, { requestId }));
      if (!request) throw new CommandError('request_unknown', `there is no record of a request ${requestId} in the last 7 days`);
      const explanation = explainRequest(request, { reader: 'seller', nowMs: Date.now() });
      context.output.result(explanation, () => show(explanation));
    });
}
