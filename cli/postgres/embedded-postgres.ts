import { chmodSync, closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverAccount } from './embedded-postgres-account';
import { checkServer, codeOf, STARTING_UP, urlOf, WrongPassword } from './embedded-postgres-check';
import {
  disownPidFile,
  freePort,
  isPortFree,
  readOrCreatePassword,
  readPidFile,
  serverFiles,
  serverPrograms,
} from './embedded-postgres-files';
import { isAlive, isServerOf, stopServer } from './embedded-postgres-process';
import { createCluster, type EmbeddedPostgresOptions, explainFailure, launch, NAME, type Run } from './embedded-postgres-run';

/** First start takes about 1.3 s; a start after a crash replays the log. */
const START_DEADLINE_MS = 30_000;
/** A server that starts or recovers says so, here or in its pid file; one that says nothing for this long is ended. */
const ADOPT_DEADLINE_MS = 3_000;

export interface EmbeddedPostgres {
  /** Holds the password: never log it. */
  readonly url: string;
  readonly pid: number;
  readonly port: number;
  /** True when a server left behind by an earlier run was taken over. */
  readonly adopted: boolean;
  /** Ends the server within 13 s at most, usually at once; a second call does nothing. */
  stop(): Promise<void>;
}

/** Small: a laptop runs it beside everything else. Terse messages keep row values out of the log. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};

/** Starts the program and waits until it takes connections. Undefined when another starter or dying backends hold the data: try again. */
async function startServer(run: Run, port: number, deadline: number): Promise<number | undefined> {
  const settings = { ...SETTINGS, ...run.options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const logStart = existsSync(run.logFile) ? statSync(run.logFile).size : 0;
  const args = ['-D', run.files.cluster, '-p', String(port), ...flags];
  const child = launch(run, { command: serverPrograms().postgres, args, paths: [run.files.cluster] });
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  child.unref();
  while (performance.now() < deadline) {
    if (failure) throw failure;
    if (child.exitCode !== null || child.signalCode !== null) {
      const said = readFileSync(run.logFile, 'utf8').slice(logStart);
      if (/lock file .* already exists|shared memory block .* is still in use/.test(said)) return undefined;
      throw new Error(explainFailure(run, 'start'));
    }
    const running = readPidFile(run.files);
    if (running?.pid === child.pid && running?.ready) return running.pid;
    await sleep(15);
  }
  if (child.pid !== undefined) await stopServer(child.pid);
  throw new Error(explainFailure(run, `start within ${START_DEADLINE_MS / 1_000} s`));
}

/** Takes over a healthy server that an earlier run left behind, and ends an unhealthy one. */
async function adoptRunning(run: Run): Promise<EmbeddedPostgres | undefined> {
  const running = readPidFile(run.files);
  if (!running) return undefined;
  if (!isServerOf(running.pid, run.files)) {
    if (isAlive(running.pid)) disownPidFile(run.files);
    return undefined;
  }
  const wanted = run.options.port ?? running.port;
  const begun = performance.now();
  for (let limitMs = ADOPT_DEADLINE_MS; wanted === running.port && isAlive(running.pid) && performance.now() - begun < limitMs;) {
    try {
      await checkServer(run, running.port);
      return handle(run, running.pid, { port: running.port, adopted: true });
    } catch (error) {
      if (error instanceof WrongPassword) throw error;
      if (codeOf(error) === STARTING_UP || readPidFile(run.files)?.ready === false) limitMs = START_DEADLINE_MS;
      await sleep(100);
    }
  }
  await stopServer(running.pid);
  return undefined;
}

/** A server that says it is ready may still have to wait for its turn before it answers. */
async function untilAnswering(run: Run, server: { port: number; pid: number; deadline: number }): Promise<void> {
  for (;;) {
    try {
      await checkServer(run, server.port);
      return;
    } catch (error) {
      if (error instanceof WrongPassword || !isAlive(server.pid) || performance.now() > server.deadline) throw error;
      await sleep(100);
    }
  }
}

function handle(run: Run, pid: number, { port, adopted }: { port: number; adopted: boolean }): EmbeddedPostgres {
  writeFileSync(run.files.portFile, String(port));
  const stop = async (): Promise<void> => {
    if (isServerOf(pid, run.files)) await stopServer(pid);
  };
  return { url: urlOf(run, port, NAME), pid, port, adopted, stop };
}

async function choosePort(run: Run): Promise<number> {
  if (run.options.port !== undefined) {
    if (await isPortFree(run.options.port)) return run.options.port;
    throw new Error(`the embedded PostgreSQL could not start: port ${run.options.port} is in use by another program`);
  }
  const last = existsSync(run.files.portFile) ? Number(readFileSync(run.files.portFile, 'utf8')) : 0;
  return last > 0 && (await isPortFree(last)) ? last : freePort();
}

function prepare(options: EmbeddedPostgresOptions): Run {
  try {
    const files = serverFiles(options.dataDir);
    const logFile = options.logFile ?? join(files.folder, 'postgres.log');
    closeSync(openSync(logFile, 'a', 0o600));
    const account = serverAccount(files.cluster);
    // A copy made by other programs may be open to all; PostgreSQL refuses such a folder.
    if (existsSync(files.cluster)) chmodSync(files.cluster, 0o700);
    return { options, files, account, password: readOrCreatePassword(files), logFile };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const reason = code === 'ENOSPC' ? 'the disk is full' : code === 'EACCES' ? 'permission was denied' : message;
    throw new Error(`the embedded PostgreSQL could not use ${options.dataDir}: ${reason}`, { cause: error });
  }
}

/**
 * Starts the PostgreSQL that npm installed, on the loopback address only, with its data in the given folder. A server that an earlier
 * run left behind (its parent was killed) is taken over when healthy and ended when not; there is never a second one on the folder,
 * even with two starters at once. The server outlives this process unless `stop` is called.
 * @throws Error whose message is one readable sentence
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const run = prepare(options);
  const deadline = performance.now() + START_DEADLINE_MS;
  while (performance.now() < deadline) {
    const adopted = await adoptRunning(run);
    if (adopted) return adopted;
    if (!existsSync(run.files.cluster)) await createCluster(run);
    const port = await choosePort(run);
    const pid = await startServer(run, port, deadline);
    if (pid !== undefined) {
      await untilAnswering(run, { port, pid, deadline });
      return handle(run, pid, { port, adopted: false });
    }
    await sleep(100);
  }
  throw new Error(explainFailure(run, 'start'));
}
