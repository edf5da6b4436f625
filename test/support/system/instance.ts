import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findFreeRow } from '../../../cli/postgres/free-port';

const ROOT = resolve(__dirname, '..', '..', '..');

/** What runs after `npm start -- --json` in a data folder of its own. */
export interface RunningInstance {
  readonly gateway: string;
  readonly dashboard: string;
  readonly sandbox: string;
  readonly services: Readonly<Record<string, string>>;
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly supervisor: ChildProcess;
  /** What its processes were given, and commands are. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The process that runs now under this name, for example `plugin-server`. */
  pidOf(name: string): number;
  /** Runs `npx tollgate …` against this instance. */
  cli(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Where each process tells its metrics, by name. */
  readonly metrics: Readonly<Record<string, string>>;
  /**
   * SIGTERM, waits for the end, removes the data.
   * @param inspect looks at the data folder before it is removed, logs and all
   */
  stop(inspect?: (dataDir: string) => void): Promise<void>;
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => (output.stdout += String(chunk)));
  child.stderr?.on('data', (chunk: Buffer) => (output.stderr += String(chunk)));
  return output;
}

const ended = (child: ChildProcess): Promise<number> =>
  new Promise((done) =>
    child.exitCode === null && child.signalCode === null ? child.once('exit', (code) => done(code ?? 1)) : done(child.exitCode ?? 1),
  );

/** A first start installs nothing here, but initialises a database; a busy machine needs patience. */
const START_LIMIT_MS = 240_000;

function firstLine(child: ChildProcess, output: { stdout: string; stderr: string }): Promise<string> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`not ready in time:\n${output.stderr}`)), START_LIMIT_MS);
    child.once('exit', (code) => fail(new Error(`ended with ${code} before it was ready:\n${output.stderr}`)));
    child.stdout?.on('data', () => {
      const end = output.stdout.indexOf('\n');
      if (end < 0) return;
      clearTimeout(timer);
      done(output.stdout.slice(0, end));
    });
  });
}

interface State {
  readonly databaseUrl: string;
  readonly metrics: Readonly<Record<string, string>>;
  readonly children: readonly { readonly name: string; readonly pid: number }[];
}

/** Starts everything as a user would, on free ports; `env` adds to the environment. */
export async function startInstance(env: Record<string, string> = {}): Promise<RunningInstance> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-instance-'));
  const environment = { ...process.env, ...env, TOLLGATE_DATA_DIR: dataDir };
  const start = join(ROOT, 'cli', 'start.mjs');
  const supervisor = spawn(process.execPath, [start, '--port', String(await findFreeRow(1)), '--json'], { cwd: ROOT, env: environment });
  const output = collect(supervisor);
  const line = await firstLine(supervisor, output).catch(async (failure: unknown) => {
    supervisor.kill('SIGTERM');
    await ended(supervisor);
    throw failure;
  });
  const report = JSON.parse(line) as Pick<RunningInstance, 'gateway' | 'dashboard' | 'sandbox' | 'services' | 'dataDir'>;
  const state = (): State => JSON.parse(readFileSync(join(dataDir, 'state.json'), 'utf8')) as State;
  return {
    ...report,
    databaseUrl: state().databaseUrl,
    metrics: state().metrics,
    supervisor,
    env: environment,
    pidOf(name) {
      const child = state().children.find((each) => each.name === name);
      if (!child) throw new Error(`no process is called ${name}`);
      return child.pid;
    },
    async cli(...args) {
      const child = spawn(process.execPath, [join(ROOT, 'cli', 'tollgate.mjs'), ...args], { cwd: ROOT, env: environment });
      const printed = collect(child);
      const code = await ended(child);
      return { code, ...printed };
    },
    async stop(inspect) {
      supervisor.kill('SIGTERM');
      await ended(supervisor);
      try {
        inspect?.(dataDir);
      } finally {
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
  };
}
