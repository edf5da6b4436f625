import { join } from 'node:path';
import { readSettings } from '../../kit/config';
import { createLog } from '../../kit/log';
import { workerTlsSettings } from '../../kit/worker-tls';
import { imageWorkerSettings } from './settings';
import { startImageWorker } from './start-image-worker';

/** Runs the worker until it is told to stop; open calls may finish. */
async function main(): Promise<void> {
  const { worker: settings, tls } = readSettings({ worker: imageWorkerSettings, tls: workerTlsSettings }, process.env);
  const log = createLog('image-worker', { level: settings.LOG_LEVEL });
  const server = await startImageWorker(settings, log, join(__dirname, 'local/cut-out-thread.js'), tls);
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
