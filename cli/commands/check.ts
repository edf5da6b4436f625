import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Command } from 'commander';
import { checkKongConfig } from '../../kong/check';
import { KONG_SCHEMA } from '../../plugins/access-layer/config';
import { CATALOGUE } from '../../plugins/core/catalogue';
import { describeMissing, liveStates, type LiveState } from '../live-sources';
import { readMigrationStanding } from '../supervisor/migrations';
import { findSettingProblems } from '../supervisor/start-settings';
import { type CommandContext, finishCommand, withDatabase } from './command-context';
import { CommandError } from './command-error';

const HELP = `
Checks that
  environment   the common variables can be used
  migrations    the database has every migration, and none that this version does not know
  plugin        kong/access-layer.json, which Kong reads, describes the plugin as it is
  kong          kong/kong.yml and the catalogue agree
and lists the products whose live source is not configured; test keys work without one.`;

interface CheckResult {
  readonly name: string;
  /** One text a problem. */
  readonly problems: readonly string[];
}

async function checkMigrations(context: CommandContext): Promise<string[]> {
  const { pending, unknown } = await withDatabase(context, readMigrationStanding);
  return [
    ...pending.map((name) => `migration ${name} is not applied; npm start applies it`),
    ...unknown.map((name) => `migration ${name} is of a newer version of Tollgate`),
  ];
}

function checkKong({ root }: CommandContext): string[] {
  return checkKongConfig(readFileSync(join(root, 'kong', 'kong.yml'), 'utf8'), CATALOGUE);
}

/** The part of `kong/access-layer.json` that must agree with the code. */
interface KeptInfo {
  readonly Protocol?: unknown;
  readonly Plugins?: readonly { readonly Schema?: { readonly fields?: unknown } }[];
}

function checkPluginInfo({ root }: CommandContext): string[] {
  const kept = JSON.parse(readFileSync(join(root, 'kong', 'access-layer.json'), 'utf8')) as KeptInfo;
  const fields: unknown = JSON.parse(JSON.stringify([{ config: { type: 'record', fields: KONG_SCHEMA } }]));
  return [
    ...(kept.Protocol === 'ProtoBuf:1' ? [] : ['kong/access-layer.json does not name the protocol ProtoBuf:1']),
    ...(isDeepStrictEqual(kept.Plugins?.[0]?.Schema?.fields, fields) ? [] : ['the schema in kong/access-layer.json is not the plugin’s']),
  ];
}

/** A check that cannot be made is a problem too. */
async function attempt(name: string, check: () => Promise<readonly string[]> | readonly string[]): Promise<CheckResult> {
  try {
    return { name, problems: await check() };
  } catch (error) {
    return { name, problems: [error instanceof Error ? error.message : String(error)] };
  }
}

function show(results: readonly CheckResult[], withoutSource: readonly LiveState[]): string {
  const notes = withoutSource.map(({ product, missing }) => `· ${product} has no live source; ${describeMissing(missing)}`);
  const lines = results.flatMap(({ name, problems }) =>
    problems.length === 0 ? [`✓ ${name}`] : problems.map((problem) => `✗ ${name}: ${problem}`),
  );
  return [...lines, ...notes].join('\n');
}

/** `tollgate check` */
export function addCheckCommand(program: Command, context: CommandContext): void {
  finishCommand(program.command('check').description('is everything as it should be'))
    .addHelpText('after', HELP)
    .action(async () => {
      const results = [
        await attempt('environment', () => findSettingProblems(context.env)),
        await attempt('migrations', () => checkMigrations(context)),
        await attempt('plugin', () => checkPluginInfo(context)),
        await attempt('kong', () => checkKong(context)),
      ];
      const failed = results.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
      const withoutSource = liveStates(context.env).filter(({ live }) => !live);
      context.output.result({ ok: failed.length === 0, checks: results, withoutSource }, () => show(results, withoutSource));
      if (failed.length > 0) throw new CommandError('check_failed', `these checks failed: ${failed.join(', ')}`);
    });
}
