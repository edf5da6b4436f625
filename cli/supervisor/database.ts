import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../postgres/embedded-postgres';
import { isAlive } from '../postgres/embedded-postgres-process';

export interface DatabaseOptions {
  /** Folder of the server's data. */
  readonly dataDir: string;
  readonly logFile: string;
  /** Chosen among free ports, and kept across restarts of the server. */
  readonly port: number;
  readonly onEvent: (event: string) => void;
}

/** The embedded PostgreSQL, which is restarted whenever it dies. */
export interface SupervisedDatabase {
  /** Contains the password. It stays the same while the supervisor runs: a restarted server takes its old port. */
  readonly url: string;
  readonly pid: () => number | undefined;
  stop(): Promise<void>;
  /** Ends it at once. Committed data is safe. */
  kill(): void;
}

/** Maximum milliseconds until a death is noticed. */
const WATCH_MS = 200;
const BACKOFF_MS = 1_000;

/** @throws Error with one readable sentence when it does not start */
export async function superviseDatabase(options: DatabaseOptions): Promise<SupervisedDatabase> {
  const { dataDir, logFile, port, onEvent } = options;
  let server = await startEmbeddedPostgres({ dataDir, logFile, port });
  const { url } = server;
  let guard = guardServer(server);
  let stopping = false;

  async function restart(): Promise<void> {
    try {
      server = await startEmbeddedPostgres({ dataDir, logFile, port });
      guard = guardServer(server);
      onEvent('answers');
    } catch (error) {
      onEvent(error instanceof Error ? error.message : String(error));
      await sleep(BACKOFF_MS);
    }
  }

  async function watch(): Promise<void> {
    while (!stopping) {
      await sleep(WATCH_MS);
      if (stopping || isAlive(server.pid)) continue;
      dismiss(guard);
      onEvent('ended');
      await restart();
    }
  }

  onEvent('answers');
  const watching = watch();
  return {
    url,
    pid: () => server.pid,
    async stop() {
      stopping = true;
      await watching;
      await server.stop();
      dismiss(guard);
    },
    kill: () => process.kill(server.pid, 'SIGKILL'),
  };
}

/**
 * Ends the server when this process dies without doing so: a shell waits for the end of its stdin. A line on its stdin, see {@link
 * dismiss}, leaves the server running.
 */
function guardServer(server: EmbeddedPostgres): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', `read line || kill -INT ${server.pid}`], {
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell, the server merely outlives a killed supervisor, and the next start ends it.
  guard.on('error', () => undefined);
  guard.stdin?.on('error', () => undefined);
  return guard;
}

function dismiss(guard: ChildProcess): void {
  guard.stdin?.end('\n');
}
