import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Command } from 'commander';
import { checkCaddy } from '../../kong/gateways/check-caddy';
import { checkEnvoy } from '../../kong/gateways/check-envoy';
import { checkHaproxy } from '../../kong/gateways/check-haproxy';
import { checkNginx } from '../../kong/gateways/check-nginx';
import { CatalogueError, readCatalogue } from '../../services/kit/read-catalogue';
import { catalogueFile } from '../supervisor/data-folder';
import { type CommandContext, finishCommand } from './command-context';
import { CommandError } from '../command-error';
import { findStaleRoutes } from './gateway';

/** Files that nginx includes, relative to the main file's folder; a star stands for part of a name. */
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

/** Converts a Caddyfile with Caddy itself; JSON stays as it is. @throws Error when Caddy cannot be run, or cannot read the file */
function adaptCaddyfile(file: string): string {
  const text = readFileSync(file, 'utf8');
  if (text.trimStart().startsWith('{"')) return text;
  try {
    const args = ['adapt', '--adapter', 'caddyfile', '--config', basename(file)];
    return execFileSync('caddy', args, { cwd: dirname(resolve(file)), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const isMissing = (error as { code?: unknown }).code === 'ENOENT';
    const { stderr } = error as { stderr?: unknown };
    const complaint = typeof stderr === 'string' ? stderr.trim() : '';
    throw new CommandError(
      'check_failed',
      isMissing ? 'caddy is not installed, and the check needs it to read the file' : `caddy cannot read the file: ${complaint}`,
      {
        cause: error,
      },
    );
  }
}

/** Products whose responses report their cost. If the catalogue cannot be read, every product may be one. */
function isByAnswer({ root, env }: CommandContext): (product: string) => boolean {
  try {
    const catalogue = readCatalogue(catalogueFile(root, env));
    return (product) => catalogue.find(product)?.units !== undefined;
  } catch (error) {
    if (error instanceof CatalogueError) return () => true;
    throw error;
  }
}

const CHECKS: Readonly<Record<'nginx' | 'caddy' | 'haproxy' | 'envoy', (files: readonly string[], context: CommandContext) => string[]>> = {
  nginx: ([file = '']) => checkNginx(readFileSync(file, 'utf8'), (pattern) => readIncluded(dirname(resolve(file)), pattern)),
  caddy: ([file = ''], context) => checkCaddy(adaptCaddyfile(file), isByAnswer(context)),
  haproxy: (files) => checkHaproxy(files.map((file) => readFileSync(file, 'utf8')).join('\n')),
  envoy: ([file = '']) => checkEnvoy(readFileSync(file, 'utf8')),
};

function findProblems(gateway: keyof typeof CHECKS, files: readonly string[], context: CommandContext): string[] {
  const file = files.join(' ');
  try {
    return CHECKS[gateway](files, context);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError('check_failed', `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** `tollgate check nginx|caddy|haproxy|envoy FILE` */
export function addGatewayChecks(check: Command, context: CommandContext): void {
  const { output } = context;
  for (const gateway of ['nginx', 'caddy', 'haproxy', 'envoy'] as const) {
    const description = `find unsafe parts of a configuration of ${gateway}, and responses that it does not report`;
    finishCommand(check.command(gateway).description(description))
      .argument('<file...>', gateway === 'haproxy' ? 'the files that haproxy starts with' : 'the configuration')
      .action((files: string[]) => {
        const [file = ''] = files;
        const problems = [...findProblems(gateway, files, context), ...findStaleRoutes(context, gateway, file)];
        output.result({ ok: problems.length === 0, problems }, () =>
          problems.length === 0 ? `✓ ${files.join(' ')}` : problems.map((problem) => `✗ ${problem}`).join('\n'),
        );
        if (problems.length > 0) throw new CommandError('check_failed', `${file} has ${problems.length} problems`);
      });
  }
}
