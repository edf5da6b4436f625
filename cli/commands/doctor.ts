import { type Command } from 'commander';
import { ACCESS_LAYER } from '../../plugins/access-layer/plugin';
import { CommandError } from '../command-error';
import { type Finding, judgeSystem } from './judge-system';
import { readSystem } from './read-system';
import { checkFiles } from './check';
import { type CommandContext, describeDatabase, finishCommand } from './command-context';

const HELP = `
It looks at the instance that runs from this folder, or at DATABASE_URL, REDIS_URL, PLUGIN_SOCKET, GATEWAY_URL and DASHBOARD_URL:
versions, database, migrations, clocks, Redis, plugin server, change feed, responses, outbox, socket, gateway, Kong's files,
certificates, disk and the last errors. It changes nothing and prints no secret. The exit code is 1 if something is wrong.`;

const SIGNS = { well: '✓', unwell: '✗', unknown: '·' } as const;

function show(findings: readonly Finding[]): string {
  return findings
    .flatMap(({ name, state, saw, todo }) => [`${SIGNS[state]} ${name}: ${saw}`, ...(todo === undefined ? [] : [`  → ${todo}`])])
    .join('\n');
}

/** `tollgate doctor` */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  finishCommand(program.command('doctor').description('show what is wrong with a running system, and what to do'))
    .addHelpText('after', HELP)
    .action(async () => {
      const facts = await readSystem(context, { version: ACCESS_LAYER.Version, files: await checkFiles(context) });
      const findings = judgeSystem(facts);
      const lookedAt = describeDatabase(context);
      const unwell = findings.filter(({ state }) => state === 'unwell').map(({ name }) => name);
      context.output.result({ ok: unwell.length === 0, lookedAt, findings }, () => `${show(findings)}\nlooked at: ${lookedAt}`);
      if (unwell.length > 0) throw new CommandError('unwell', `something is wrong with: ${[...new Set(unwell)].join(', ')}`);
    });
}
