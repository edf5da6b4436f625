import { join } from 'node:path';
import { readSettings } from '../../kit/config';
import { createLog } from '../../kit/log';
import { workerTlsSettings } from '../../kit/worker-tls';
import { apkWorkerSettings } from './settings';
import { startApkWorker } from './start-apk-worker';

/** Runs the worker until it is told to stop; open calls may finish. */
async function main(): Promise<void> {
  const { worker: settings, tls } = readSettings({ worker: apkWorkerSettings, tls: workerTlsSettings }, process.env);
  const log = createLog('apk-worker', { level: settings.LOG_LEVEL });
  const server = await startApkWorker(settings, log, join(__dirname, 'analysis-thread.js'), tls);
  const stop = (): void => {
    void server.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
  // Last: whoever reads this line may end the process at once.
  process.stdout.write(`${JSON.stringify({ ready: true, port: server.port })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
