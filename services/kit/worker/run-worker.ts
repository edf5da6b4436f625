import { type z } from 'zod';
import { startTracing } from '../../../plugins/tracing/start-tracing';
import { readSettings } from '../../../plugins/core/settings';
import { type WorkerProcessSettings } from '../config';
import { createLog, type Log } from '../log';
import { type PrivateServer, startPrivateServer } from '../service/private-server';
import { type WorkerServer } from './serve-worker';
import { createWorkerMetrics, type WorkerMetrics } from './worker-metrics';
import { workerTlsSettings } from './worker-tls';
import { type MutualTls } from '../mutual-tls';

/** What the process gives a worker. */
export interface WorkerTools {
  readonly log: Log;
  readonly metrics: WorkerMetrics;
  /** Undefined for plain connections. */
  readonly tls: MutualTls | undefined;
}

export interface WorkerProgram<Settings extends WorkerProcessSettings> {
  /** Folder below services/workers, for example `identity`. */
  readonly name: string;
  readonly settings: z.ZodType<Settings>;
  /** Whether the live source that this worker calls is set, by product. */
  readonly live?: Readonly<Record<string, boolean>>;
  start(settings: Settings, tools: WorkerTools): Promise<WorkerServer>;
}

/** Serves `/metrics`, `/health` and `/live` when a port was given. grpc.health.v1 reports whether the worker serves. */
async function openPrivateServer(
  settings: WorkerProcessSettings,
  { metrics, live }: { readonly metrics: WorkerMetrics; readonly live: Readonly<Record<string, boolean>> },
): Promise<PrivateServer | undefined> {
  const { PRIVATE_PORT: port, PRIVATE_HOST: host } = settings;
  if (port === undefined) return undefined;
  return startPrivateServer({ host, port, metrics, checks: {}, live });
}

async function run<Settings extends WorkerProcessSettings>(program: WorkerProgram<Settings>): Promise<void> {
  const { name, live = {} } = program;
  const { worker: settings, tls } = readSettings({ worker: program.settings, tls: workerTlsSettings }, process.env);
  const log = createLog(`${name}-worker`, { level: settings.LOG_LEVEL });
  const metrics = createWorkerMetrics(name, { withProcess: true });
  const tracing = await startTracing({ serviceName: `tollgate-worker-${name}`, env: process.env, log });
  const privateServer = await openPrivateServer(settings, { metrics, live });
  const server = await program.start(settings, { log, metrics, tls });
  const stop = async (): Promise<void> => {
    await server.close();
    await Promise.all([tracing?.stop(), privateServer?.close()]);
  };
  const end = (): void => void stop().finally(() => process.exit(0));
  process.once('SIGTERM', end).once('SIGINT', end);
  // Written last, because a parent that reads this line may end the process at once.
  process.stdout.write(`${JSON.stringify({ ready: true, port: server.port, private: privateServer?.url })}\n`);
}

/** Runs a worker as a process until a signal stops it. Open calls may finish. A failed start is reported in one text on standard error. */
export function runWorker<Settings extends WorkerProcessSettings>(program: WorkerProgram<Settings>): void {
  run(program).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    // An open private server would keep the process alive.
    process.exit(1);
  });
}
