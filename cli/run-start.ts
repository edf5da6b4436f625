import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { type Catalogue, refusesTestKeys } from '../plugins/core/catalogue/catalogue';
import { describeMissing, liveStates } from './live-sources';
import { readCatalogue } from '../services/kit/read-catalogue';
import { firstCallOf, pickFirst } from '../services/selling/catalogue/first-call';
import { catalogueFile, configFolder, dataFolder, kongFile } from './supervisor/data-folder';
import { foldersOfStart, leadTo, type FoundFolders } from './supervisor/find-folders';
import { type InstanceReport } from './supervisor/instance-state';
import { endOnSignals } from './supervisor/end-on-signals';
import { startInstance } from './supervisor/start-instance';
import { type ProcessTable, type Supervisor } from './supervisor/supervisor';
import { parseStartArguments, START_HELP } from './supervisor/start-arguments';

export interface StartOptions extends FoundFolders {
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly processes: ProcessTable;
  /** Takes a lock file for this process, or returns the process that holds it. */
  readonly takeLock: (file: string) => { readonly release: () => void } | { readonly heldBy: number };
}

/** The keys that each product can serve: test keys with a sandbox, live keys with a source. */
function describeProducts(env: NodeJS.ProcessEnv, catalogue: Catalogue): string {
  const refused = new Set(catalogue.products.filter(refusesTestKeys).map(({ id }) => id));
  return liveStates(env, catalogue)
    .map(({ product, prefix, live, missing }) => {
      const modes = [...(live ? ['live'] : []), ...(refused.has(product) ? [] : ['test'])];
      const keys = `${modes.join(' and ') || 'no'} keys${live ? '' : `; for live keys ${describeMissing(missing)}`}`;
      return `  ${product.padEnd(24)}${prefix.padEnd(22)}${keys}`;
    })
    .join('\n');
}

/** Commands for the first product that can be called, or for the first product of all. */
function describeFirstCalls(catalogue: Catalogue): string {
  const product = pickFirst(catalogue.products);
  if (!product || !firstCallOf(product))
    return '  npx tollgate product new weather --url http://127.0.0.1:9000\n  npx tollgate catalogue apply';
  const mode = refusesTestKeys(product) ? '' : ' --mode test';
  return `  npx tollgate key create --customer you@example.com --products ${product.id}${mode}   shows the key and a call to try
  npx tollgate usage --customer you@example.com`;
}

function describeInstance({ gateway, dashboard, sandbox, dataDir }: InstanceReport, catalogue: Catalogue, seconds: number): string {
  return `Tollgate runs (started in ${seconds.toFixed(1)} s).

  gateway   ${gateway}
  dashboard ${dashboard}   sign up here; its mail is at ${dashboard}/outbox
${sandbox === null ? '' : `  sandbox   ${sandbox}   lists an input for every outcome\n`}  data      ${dataDir}   logs are in logs/

${describeProducts(process.env, catalogue) || '  Nothing is sold yet.'}

First calls, in another terminal:

${describeFirstCalls(catalogue)}

Ctrl-C stops everything.`;
}

/**
 * The environment, plus settings from the `.env` of a folder of what is sold that are not set already.
 * @throws Error, one sentence
 */
function withSettings(root: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (!env['TOLLGATE_CONFIG']) return env;
  const folder = configFolder(root, env);
  for (const file of [catalogueFile(root, env), kongFile(root, env)]) {
    if (!existsSync(file)) throw new Error(`there is no ${file}; npx tollgate init ${folder} writes a folder to start from`);
  }
  const settings = join(folder, '.env');
  return { ...(existsSync(settings) && parseEnv(readFileSync(settings, 'utf8'))), ...env };
}

/** Allows one instance per data folder. @throws Error, one sentence */
function lockFolder({ takeLock }: StartOptions, dataDir: string): void {
  try {
    const lock = takeLock(join(dataDir, 'start.lock'));
    if ('heldBy' in lock) throw new Error(`already running from this folder (process ${lock.heldBy}); stop that process first`);
    process.on('exit', lock.release);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const help = 'change its owner, or choose another folder with TOLLGATE_DATA_DIR';
    throw new Error(`nothing can be written to ${dataDir} (${code}); ${help}`, { cause: error });
  }
}

/** Locks the data folder, and gives this process and its children the settings. @throws Error, one sentence */
function enterFolders(options: StartOptions, config: string | undefined): void {
  const { root, home } = options;
  const isPlaced = Boolean(process.env['TOLLGATE_DATA_DIR']);
  const env = withSettings(root, foldersOfStart(options, process.env, config));
  const dataDir = dataFolder(root, env);
  lockFolder(options, dataDir);
  if (!isPlaced) process.on('exit', leadTo(dataDir, home));
  Object.assign(process.env, env);
}

export async function runStart(options: StartOptions): Promise<void> {
  const { root, argv, processes } = options;
  let supervisor: Supervisor | undefined;
  endOnSignals(() => supervisor);
  try {
    const { json, help, port, gateway, config } = parseStartArguments(argv);
    if (help) {
      process.stdout.write(`${START_HELP}\n`);
      process.exit(0);
    }
    enterFolders(options, config);
    if (!json) process.stderr.write('tollgate: starting\n');
    const onSupervisor = (started: Supervisor): void => void (supervisor = started);
    const catalogue = readCatalogue(catalogueFile(root, process.env));
    const warn = (sentence: string): void => void process.stderr.write(`tollgate: ${sentence}\n`);
    const report = await startInstance({ root, port, gateway, env: process.env, catalogue, processes, warn, onSupervisor });
    process.stdout.write(`${json ? JSON.stringify(report) : describeInstance(report, catalogue, process.uptime())}\n`);
  } catch (error) {
    process.stderr.write(`tollgate: ${error instanceof Error ? error.message : String(error)}\n`);
    await supervisor?.stop();
    process.exit(1);
  }
}
