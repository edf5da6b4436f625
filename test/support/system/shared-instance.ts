import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ProcessIdentity, identifyProcess, isSameProcess } from '../../../cli/bootstrap/exclusive.mjs';
import { findFreeRow } from '../../../cli/postgres/free-port';
import { eventually } from '../eventually';
import { oncePerRun } from '../once-per-run';
import { runFolder } from '../run-folder';
import { type RunningInstance } from './instance';

const ROOT = resolve(__dirname, '..', '..', '..');
/** What the teardown of the run has to end, in the folder of the run. */
const STARTED = 'instance-started';
/** A first start on a busy machine; decides only how late a failure is told. */
const START_LIMIT_MS = 240_000;
/** The supervisor drains its children for some seconds. */
const STOP_LIMIT_MS = 60_000;

/** What sandbox upstreams that never answer are waited for: long for an answer from this machine, far shorter than the defaults. */
const SHORT_TIMEOUTS = Object.fromEntries(
  [
    'PINCODE_TIMEOUT',
    'GDPLAY_TIMEOUT',
    'IDENTITY_MESSAGE_TIMEOUT',
    'RANKING_TIMEOUT',
    'IMAGE_UPSTREAM_TIMEOUT',
    'SEO_SOURCE_TIMEOUT',
    'SEO_PAGE_TIMEOUT',
  ].map((name) => [`${name}_MS`, '3000']),
);

/** An instance that several test files use at the same time, each with customers of its own: nobody stops or changes it. */
export type SharedInstance = Pick<RunningInstance, 'gateway' | 'dashboard' | 'sandbox' | 'services' | 'dataDir' | 'databaseUrl'>;

interface Started {
  readonly supervisor: ProcessIdentity;
  readonly dataDir: string;
}

/** As `npm start -- --json`, but not tied to the process of the test file that happens to be the first. */
async function start(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-instance-'));
  const said = join(runFolder(), 'instance-stdout');
  const complained = join(runFolder(), 'instance-stderr');
  const files = [openSync(said, 'w'), openSync(complained, 'w')] as const;
  const supervisor = spawn(process.execPath, [join(ROOT, 'cli', 'start.mjs'), '--port', String(await findFreeRow(1)), '--json'], {
    cwd: ROOT,
    env: { ...process.env, ...SHORT_TIMEOUTS, TOLLGATE_DATA_DIR: dataDir },
    detached: true,
    stdio: ['ignore', ...files],
  });
  files.forEach(closeSync);
  supervisor.unref();
  const identity = identifyProcess(supervisor.pid ?? 0);
  writeFileSync(join(runFolder(), STARTED), JSON.stringify({ supervisor: identity, dataDir } satisfies Started));
  await eventually(() => readFileSync(said, 'utf8').includes('\n') || supervisor.exitCode !== null, START_LIMIT_MS);
  if (supervisor.exitCode !== null) {
    rmSync(dataDir, { recursive: true, force: true });
    throw new Error(`ended before it was ready:\n${readFileSync(complained, 'utf8')}`);
  }
  const { databaseUrl } = JSON.parse(readFileSync(join(dataDir, 'state.json'), 'utf8')) as { databaseUrl: string };
  return JSON.stringify({ ...(JSON.parse(readFileSync(said, 'utf8')) as object), databaseUrl });
}

/** The run's one instance; the first test file that asks starts it, and the run's teardown stops it. */
export async function sharedInstance(): Promise<SharedInstance> {
  return JSON.parse(await oncePerRun('instance', start)) as SharedInstance;
}

function readStarted(folder: string): Started | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, STARTED), 'utf8')) as Started;
  } catch {
    return undefined;
  }
}

/** Stops the instance that a run has shared, if it started one, and removes its data. @param folder of the run */
export async function endSharedInstance(folder: string): Promise<void> {
  const started = readStarted(folder);
  if (!started) return;
  const { supervisor, dataDir } = started;
  if (isSameProcess(supervisor)) process.kill(supervisor.pid, 'SIGTERM');
  await eventually(() => !isSameProcess(supervisor), STOP_LIMIT_MS);
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
}
