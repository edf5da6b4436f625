import { type Command } from 'commander';
import { type Explanation, explainDecision } from '../../services/selling/requests/explain';
import { explainDecision as findDecision } from '../../services/selling/requests/explain-decision';
import { type CommandContext, finishCommand, withDatabase } from './command-context';
import { CommandError } from '../command-error';
import { parseRequestId } from '../parse-arguments';

const EXAMPLE = `
Example:
  npx tollgate explain 2c7a5b1d0e4f4c6c9b6a8d2f1e3c5a7b

The request id stands in the answer's header X-Kong-Request-Id, and as request_id in the body of a refusal. A request can be explained from a
moment after its answer, for 7 days.`;

const SIGNS = { passed: '✓', failed: '✗', 'not reached': '·' } as const;

function show({ requestId, at, outcome, checks, remedy }: Explanation): string {
  const lines = checks.map(({ check, outcome: result, saw }) => `${SIGNS[result]} ${check}${saw === '' ? '' : `: ${saw}`}`);
  return [`request ${requestId} at ${at}: ${outcome}`, ...lines, ...(remedy === '' ? [] : [`→ ${remedy}`])].join('\n');
}

/** `tollgate explain REQUEST_ID` */
export function addExplainCommand(program: Command, context: CommandContext): void {
  finishCommand(program.command('explain').description('show which checks a request passed, and why it was refused'))
    .argument('<request-id>', 'header X-Kong-Request-Id of the answer')
    .addHelpText('after', EXAMPLE)
    .action(async (text: string) => {
      const requestId = parseRequestId(text);
      const decision = await withDatabase(context, (db) => findDecision(db, { requestId }));
      if (!decision) throw new CommandError('request_unknown', `there is no record of a request ${requestId} in the last 7 days`);
      const explanation = explainDecision(decision);
      context.output.result(explanation, () => show(explanation));
    });
}
