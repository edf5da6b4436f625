import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Command } from 'commander';
import { checkKongConf, noteKongConf } from '../../kong/check/check-kong-conf';
import { type KongReport } from '../../kong/check/check-kong-yml';
import { loadConfig } from '../../kong/local/config/kong-yml';
import { ConfigError } from '../../kong/local/config/config-error';
import { loadPluginInfo } from '../../kong/local/config/plugin-info';
import { KONG_SCHEMA } from '../../plugins/access-layer/config';
import { type Catalogue, createCatalogue } from '../../plugins/core/catalogue/catalogue';
import { CatalogueError, describeProblem, readCatalogue } from '../../services/kit/read-catalogue';
import { catalogueFile, kongFile } from '../supervisor/data-folder';
import { DOCUMENT_FILE } from '../../services/openapi/read-document';
import { describeMissing, liveStates, type LiveState } from '../live-sources';
import { noteTestKeys } from '../test-keys';
import { findSettingProblems } from '../supervisor/start-settings';
import { addGatewayChecks } from './check-gateway';
import { type CommandContext, finishCommand } from './command-context';
import { nameFrom } from './here';
import { CommandError } from '../command-error';
import { judgeKongYml } from './kong-yml';

const HELP = `
The checks:
  environment   the common settings have values that Tollgate can use
  plugin        kong/access-layer.json describes the plugin to Kong correctly
  catalogue     catalogue.yml is valid
  kong          kong.yml and catalogue.yml agree, no request of a product finds a way around the access layer, and kong.conf keeps
                API keys out of Kong's logs
  services      Tollgate's own services serve every route of their products

The command also notes what the gateway of npm start would refuse in kong.yml, which products have no live source (test keys work without
one), and which products have no sandbox for test keys. npx tollgate doctor looks at a running system.`;

interface CheckResult {
  readonly name: string;
  /** A text for each problem. */
  readonly problems: readonly string[];
}

/** The catalogue, or its mistakes. */
function checkCatalogue({ root, env }: CommandContext): { catalogue: Catalogue | undefined; problems: readonly string[] } {
  const file = catalogueFile(root, env);
  try {
    return { catalogue: readCatalogue(file), problems: [] };
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    return { catalogue: undefined, problems: error.problems.map((problem) => describeProblem(nameFrom(root, file), problem)) };
  }
}

function checkKongConfHere({ root }: CommandContext): string[] {
  return checkKongConf(readFileSync(join(root, 'kong', 'kong.conf'), 'utf8'));
}

/** The part of `kong/access-layer.json` that must match the code. */
interface KeptInfo {
  readonly Protocol?: unknown;
  readonly Plugins?: readonly { readonly Schema?: { readonly fields?: unknown } }[];
}

function checkPluginInfo({ root }: CommandContext): string[] {
  const kept = JSON.parse(readFileSync(join(root, 'kong', 'access-layer.json'), 'utf8')) as KeptInfo;
  const fields: unknown = JSON.parse(JSON.stringify([{ config: { type: 'record', fields: KONG_SCHEMA } }]));
  return [
    ...(kept.Protocol === 'ProtoBuf:1' ? [] : ['kong/access-layer.json does not name the protocol ProtoBuf:1']),
    ...(isDeepStrictEqual(kept.Plugins?.[0]?.Schema?.fields, fields)
      ? []
      : ['the schema in kong/access-layer.json is not the plugin’s; npm run plugin-info rewrites it']),
  ];
}

/** The part of the API's description that the check reads: each operation names its product. */
interface BuiltDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly tags?: readonly string[] }>>>>;
}

/**
 * Compares the catalogue with the operations of Tollgate's services; other products have an upstream of their own. The build writes the
 * API's description from the services; loading every service here would take seconds.
 */
function checkServices({ root }: CommandContext, { products }: Catalogue): string[] {
  const { paths } = JSON.parse(readFileSync(join(root, 'dist', 'services', 'openapi', DOCUMENT_FILE), 'utf8')) as BuiltDocument;
  const own = new Set(Object.values(paths).flatMap((operations) => Object.values(operations).flatMap(({ tags }) => tags ?? [])));
  return products
    .filter(({ id }) => own.has(id))
    .flatMap(({ id, routes }) =>
      routes
        .filter(({ path }) => !Object.hasOwn(paths, path))
        .map(({ path }) => `product ${id}: no service of services/products/registry.ts serves ${path}`),
    );
}

/**
 * Parts of this kong.yml that prevent `npm start` from running it. Kong itself supports more than the local gateway, so they are not
 * problems.
 */
function findLocalRefusals({ root, env }: CommandContext): readonly string[] {
  try {
    loadConfig({ kongYmlPath: kongFile(root, env), plugins: loadPluginInfo(join(root, 'kong', 'access-layer.json')) });
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
  }
}

/** A check that cannot be made counts as a problem. */
async function attempt(name: string, check: () => Promise<readonly string[]> | readonly string[]): Promise<CheckResult> {
  try {
    return { name, problems: await check() };
  } catch (error) {
    return { name, problems: [error instanceof Error ? error.message : String(error)] };
  }
}

interface CheckNotes {
  readonly withoutSource: readonly LiveState[];
  readonly localRefusals: readonly string[];
  /** Settings that make requests more expensive than necessary. */
  readonly slow: readonly string[];
  /** Products without a sandbox. */
  readonly testKeys: readonly string[];
  /** Oddities in kong.yml that may be intended. */
  readonly kong: readonly string[];
  /** Routes that are not Tollgate's. */
  readonly others: readonly string[];
}

/** Further refusals are only counted, unless all are requested. */
const MAX_REFUSALS = 3;

function showRefusals(refusals: readonly string[], isVerbose: boolean): string[] {
  if (!isVerbose && refusals.length > MAX_REFUSALS)
    return [`· npm start would refuse kong.yml in ${refusals.length} places; --verbose names them`];
  return refusals.map((refusal) => `· npm start would refuse kong/kong.yml: ${refusal}`);
}

function show(results: readonly CheckResult[], found: CheckNotes, { verbose: isVerbose = false }: CheckFlags): string {
  const { kong, others, withoutSource, localRefusals, slow, testKeys } = found;
  const notes = [
    ...kong.map((note) => `· ${note}`),
    ...(isVerbose ? others : []).map((other) => `· ${other}`),
    ...slow.map((note) => `· ${note}`),
    ...showRefusals(localRefusals, isVerbose),
    ...withoutSource.map(({ product, missing }) => `· ${product} has no live source; ${describeMissing(missing)}`),
    ...testKeys.map((note) => `· ${note}`),
  ];
  const lines = results.flatMap(({ name, problems }) =>
    problems.length === 0 ? [`✓ ${name}`] : problems.map((problem) => `✗ ${name}: ${problem}`),
  );
  return [...lines, ...notes].join('\n');
}

interface CheckFlags {
  readonly allGuarded?: boolean;
  readonly verbose?: boolean;
}

interface Checked {
  readonly results: readonly CheckResult[];
  /** Empty when it cannot be read; then nothing is compared with it. */
  readonly catalogue: Catalogue;
  readonly report: KongReport;
}

async function runChecks(context: CommandContext, { allGuarded }: CheckFlags): Promise<Checked> {
  const results: CheckResult[] = [
    await attempt('environment', () => findSettingProblems(context.env)),
    await attempt('plugin', () => checkPluginInfo(context)),
  ];
  let catalogue = createCatalogue([]);
  const readable = await attempt('catalogue', () => {
    const read = checkCatalogue(context);
    catalogue = read.catalogue ?? catalogue;
    return read.problems;
  });
  results.push(readable);
  let report: KongReport = { problems: [], notes: [], others: [] };
  if (readable.problems.length > 0) return { results, catalogue, report };
  results.push(
    await attempt('kong', () => {
      report = judgeKongYml(context, catalogue, allGuarded === true ? { allGuarded } : {});
      return [...report.problems, ...checkKongConfHere(context)];
    }),
    await attempt('services', () => checkServices(context, catalogue)),
  );
  return { results, catalogue, report };
}

/** Problems in the catalogue's and the gateway's files. */
export async function checkFiles(context: CommandContext): Promise<readonly string[]> {
  const { results } = await runChecks(context, {});
  return results.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`));
}

/** `tollgate check` */
export function addCheckCommand(program: Command, context: CommandContext): void {
  const check = finishCommand(program.command('check').description('check the settings, the catalogue and the gateway’s files'));
  addGatewayChecks(check, context);
  check.option('--all-guarded', 'also report services without the access layer, as the example catalogue does');
  check.option('--verbose', 'list the routes that are not checked, and everything that npm start would refuse');
  check.addHelpText('after', HELP).action(async (flags: CheckFlags) => {
    const { results, catalogue, report } = await runChecks(context, flags);
    const failed = results.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
    const isKongRight = !failed.includes('kong') && !failed.includes('catalogue');
    const notes = {
      kong: report.notes,
      others: report.others,
      slow: isKongRight ? noteKongConf(readFileSync(join(context.root, 'kong', 'kong.conf'), 'utf8')) : [],
      withoutSource: liveStates(context.env, catalogue).filter(({ live }) => !live),
      testKeys: noteTestKeys(catalogue.products),
      // If Kong would refuse the file too, the local gateway's refusals need not be repeated.
      localRefusals: isKongRight && !failed.includes('plugin') ? findLocalRefusals(context) : [],
    };
    context.output.result({ ok: failed.length === 0, checks: results, ...notes }, () => show(results, notes, flags));
    if (failed.length > 0) throw new CommandError('check_failed', `these checks failed: ${failed.join(', ')}`);
  });
}
