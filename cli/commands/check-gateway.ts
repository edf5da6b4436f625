import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Command } from 'commander';
import { checkCaddy } from '../../kong/gateways/check-caddy';
import { checkEnvoy } from '../../kong/gateways/check-envoy';
import { checkNginx } from '../../kong/gateways/check-nginx';
import { type CommandContext, finishCommand } from './command-context';
import { CommandError } from './command-error';
import { findStaleRoutes } from './gateway';

/** Files that nginx includes: relative to the main file's folder; a star stands for part of a name. */
function readIncluded(folder: string, pattern: string): string[] {
  const path = resolve(folder, pattern);
  if (!basename(path).includes('*')) return [readFileSync(path, 'utf8')];
  const names = new RegExp(
    `^${basename(path)
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')}$`,
  );
  return readdirSync(dirname(path))
    .filter((name) => names.test(name))
    .sort()
    .map((name) => readFileSync(join(dirname(path), name), 'utf8'));
}

/** Caddy's own reading of a Caddyfile; one that is JSON already stays. @throws Error where Caddy cannot be run, or cannot read it */
function adaptCaddyfile(file: string): string {
  const text = readFileSync(file, 'utf8');
  if (text.trimStart().startsWith('{"')) return text;
  try {
    const args = ['adapt', '--adapter', 'caddyfile', '--config', basename(file)];
    return execFileSync('caddy', args, { cwd: dirname(resolve(file)), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const isMissing = (error as { code?: unknown }).code === 'ENOENT';
    const { stderr } = error as { stderr?: unknown };
    const told = typeof stderr === 'string' ? stderr.trim() : '';
    throw new CommandError(
      'check_failed',
      isMissing ? 'caddy is not installed: it reads the file' : `caddy cannot read the file: ${told}`,
      {
        cause: error,
      },
    );
  }
}

const CHECKS: Readonly<Record<'nginx' | 'caddy' | 'envoy', (file: string) => string[]>> = {
  nginx: (file) => checkNginx(readFileSync(file, 'utf8'), (pattern) => readIncluded(dirname(resolve(file)), pattern)),
  caddy: (file) => checkCaddy(adaptCaddyfile(file)),
  envoy: (file) => checkEnvoy(readFileSync(file, 'utf8')),
};

function findProblems(gateway: keyof typeof CHECKS, file: string): string[] {
  try {
    return CHECKS[gateway](file);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError('check_failed', `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** `tollgate check nginx|caddy|envoy FILE` */
export function addGatewayChecks(check: Command, context: CommandContext): void {
  const { output } = context;
  for (const gateway of ['nginx', 'caddy', 'envoy'] as const) {
    finishCommand(check.command(gateway).description(`what is dangerous in a configuration of ${gateway}`))
      .argument('<file>', 'the configuration')
      .action((file: string) => {
        const problems = [...findProblems(gateway, file), ...findStaleRoutes(context, gateway, file)];
        output.result({ ok: problems.length === 0, problems }, () =>
          problems.length === 0 ? `✓ ${file}` : problems.map((problem) => `✗ ${problem}`).join('\n'),
        );
        if (problems.length > 0) throw new CommandError('check_failed', `${file} has ${problems.length} places to mend`);
      });
  }
}
