import { systemClock } from '../../../plugins/core/ports';
import { readSettings } from '../../kit/config';
import { createLog } from '../../kit/log';
import { workerTlsSettings } from '../../kit/worker-tls';
import { rankingWorkerSettings } from './settings';
import { startRankingWorker } from './start-ranking-worker';

/** Runs the worker until it is told to stop; open calls may finish. */
async function main(): Promise<void> {
  const { worker: settings, tls } = readSettings({ worker: rankingWorkerSettings, tls: workerTlsSettings }, process.env);
  const log = createLog('ranking-worker', { level: settings.LOG_LEVEL });
  const server = await startRankingWorker({ settings, log, clock: systemClock, tls });
  process.stdout.write(`${JSON.stringify({ ready: true, port: server.port })}\n`);
  const stop = (): void => {
    void server.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
