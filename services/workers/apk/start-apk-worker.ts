import { join } from 'node:path';
import { type Log } from '../../kit/log';
import { loadService } from '../../kit/worker/load-proto';
import { type WorkerTools } from '../../kit/worker/run-worker';
import { serveWorker, type WorkerHandler, type WorkerServer } from '../../kit/worker/serve-worker';
import { createWorkerMetrics } from '../../kit/worker/worker-metrics';
import { createApkHandlers } from './handler';
import { type ApkWorkerSettings } from './settings';

const PROTO = join(__dirname, '../../../protos/apk/v1/apk.proto');

/**
 * Serves the worker over gRPC.
 * @param threadFile the compiled `analysis-thread`
 */
export function startApkWorker(
  settings: ApkWorkerSettings,
  log: Log,
  threadFile: string,
  { metrics = createWorkerMetrics('apk'), tls }: Partial<Pick<WorkerTools, 'metrics' | 'tls'>> = {},
): Promise<WorkerServer> {
  const { Analyze, levels } = createApkHandlers({
    threadFile,
    folder: settings.APK_WORKER_FOLDER,
    uploads: settings.APK_WORKER_UPLOADS,
    analyses: settings.APK_WORKER_ANALYSES,
    deadlineMs: settings.APK_WORKER_DEADLINE_MS,
    heapMebibytes: settings.APK_WORKER_HEAP_MB,
  });
  metrics.watchPool('analyses', levels);
  const handlers: Record<string, WorkerHandler> = { Analyze: Analyze as WorkerHandler };
  return serveWorker({
    name: 'apk',
    metrics,
    service: loadService(PROTO, 'apk.v1.ApkWorker'),
    handlers,
    host: settings.WORKER_HOST,
    port: settings.WORKER_PORT,
    log,
    tls,
  });
}
