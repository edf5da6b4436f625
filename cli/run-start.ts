import { type Catalogue, refusesTestKeys } from '../plugins/core/selling/catalogue';
import { describeMissing, liveStates } from './live-sources';
import { readCatalogue } from '../services/kit/read-catalogue';
import { catalogueFile } from './supervisor/data-folder';
import { type InstanceReport } from './supervisor/instance-state';
import { endOnSignals } from './supervisor/end-on-signals';
import { startInstance } from './supervisor/start-instance';
import { type ProcessTable, type Supervisor } from './supervisor/supervisor';
import { parseStartArguments, START_HELP } from './supervisor/start-arguments';

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

function describeInstance({ gateway, dashboard, sandbox, dataDir }: InstanceReport, catalogue: Catalogue, seconds: number): string {
  return `Tollgate runs (started in ${seconds.toFixed(1)} s).

  gateway   ${gateway}
  dashboard ${dashboard}   sign up here; its mail is at ${dashboard}/outbox
  sandbox   ${sandbox}   lists an input for every outcome
  data      ${dataDir}   logs are in logs/

${describeProducts(process.env, catalogue)}

First calls, in another terminal:

  npx tollgate key create --customer you@example.com --products api-ip,api-pincode --mode test
  curl -H "X-API-Key: $KEY" '${gateway}/ip?ip=8.8.8.8'
  npx tollgate usage --customer you@example.com

Ctrl-C stops everything.`;
}

/** `npm start`: returns when everything answers; the processes live until a signal comes. Ends the process when it cannot start. */
export async function runStart({ root, argv, processes }: StartOptions): Promise<void> {
  let supervisor: Supervisor | undefined;
  endOnSignals(() => supervisor);
  try {
    const { json, help, port, gateway } = parseStartArguments(argv);
    if (help) {
      process.stdout.write(`${START_HELP}\n`);
      process.exit(0);
    }
    if (!json) process.stderr.write('tollgate: starting\n');
    const onSupervisor = (started: Supervisor): void => void (supervisor = started);
    const catalogue = readCatalogue(catalogueFile(root, process.env));
    const report = await startInstance({ root, port, gateway, env: process.env, catalogue, processes, onSupervisor });
    process.stdout.write(`${json ? JSON.stringify(report) : describeInstance(report, catalogue, process.uptime())}\n`);
  } catch (error) {
    process.stderr.write(`tollgate: ${error instanceof Error ? error.message : String(error)}\n`);
    await supervisor?.stop();
    process.exit(1);
  }
}
