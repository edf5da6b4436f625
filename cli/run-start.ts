import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Catalogue, refusesTestKeys } from '../plugins/core/catalogue/catalogue';
import { describeMissing, liveStates } from './live-sources';
import { readCatalogue } from '../services/kit/read-catalogue';
import { firstCallOf, pickFirst } from '../services/selling/catalogue/first-call';
import { catalogueFile, configFolder, kongFile } from './supervisor/data-folder';
import { type InstanceReport } from './supervisor/instance-state';
import { endOnSignals } from './supervisor/end-on-signals';
import { startInstance } from './supervisor/start-instance';
import { type ProcessTable, type Supervisor } from './supervisor/supervisor';
import { parseStartArguments, type StartArguments, START_HELP } from './supervisor/start-arguments';

export interface StartOptions {
  /** The project's folder. */
  readonly root: string;
  /** Words after the program's name. */
  readonly argv: readonly string[];
  readonly processes: ProcessTable;
}

/** Which keys each product can serve: test keys where there is a sandbox, live keys where there is a source. */
function describeProducts(env: NodeJS.ProcessEnv, catalogue: Catalogue): string {
  const refused = new Set(catalogue.products.filter(refusesTestKeys).map(({ id }) => id));
  return liveStates(env, catalogue)
    .map(({ product, prefix, live, missing }) => {
      const modes = [...(live ? ['live'] : []), ...(refused.has(product) ? [] : ['test'])];
      const keys = `${modes.join(' and ') || 'no'} keys${live ? '' : `; for live ones ${describeMissing(missing)}`}`;
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
 * The environment with what a folder of what is sold adds to it: its place, and the settings of its `.env` that are not set already.
 * @throws Error, one sentence
 */
export function withConfig(root: string, env: NodeJS.ProcessEnv, { config }: Pick<StartArguments, 'config'>): NodeJS.ProcessEnv {
  // npm changes to the project's folder and says where it was called.
  const named = config === undefined ? undefined : resolve(env['INIT_CWD'] || '.', config);
  const wanted = { ...env, ...(named !== undefined && { TOLLGATE_CONFIG: named }) };
  if (!wanted['TOLLGATE_CONFIG']) return wanted;
  const folder = configFolder(root, wanted);
  for (const file of [catalogueFile(root, wanted), kongFile(root, wanted)]) {
    if (!existsSync(file)) throw new Error(`there is no ${file}; npx tollgate init ${folder} writes a folder to begin with`);
  }
  const settings = join(folder, '.env');
  return { ...(existsSync(settings) && parseEnv(readFileSync(settings, 'utf8'))), ...wanted, TOLLGATE_CONFIG: folder };
}

/** `npm start`: returns when everything answers; the processes live until a signal comes. Ends the process when it cannot start. */
export async function runStart({ root, argv, processes }: StartOptions): Promise<void> {
  let supervisor: Supervisor | undefined;
  endOnSignals(() => supervisor);
  try {
    const { json, help, port, gateway, config } = parseStartArguments(argv);
    if (help) {
      process.stdout.write(`${START_HELP}\n`);
      process.exit(0);
    }
    if (!json) process.stderr.write('tollgate: starting\n');
    const onSupervisor = (started: Supervisor): void => void (supervisor = started);
    Object.assign(process.env, withConfig(root, process.env, { config }));
    const catalogue = readCatalogue(catalogueFile(root, process.env));
    const report = await startInstance({ root, port, gateway, env: process.env, catalogue, processes, onSupervisor });
    process.stdout.write(`${json ? JSON.stringify(report) : describeInstance(report, catalogue, process.uptime())}\n`);
  } catch (error) {
    process.stderr.write(`tollgate: ${error instanceof Error ? error.message : String(error)}\n`);
    await supervisor?.stop();
    process.exit(1);
  }
}
