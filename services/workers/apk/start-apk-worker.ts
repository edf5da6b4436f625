import { type Log } from '../../kit/log';
import { type WorkerTools } from '../../kit/worker/run-worker';
import { type WorkerHandler, type WorkerServer } from '../../kit/worker/serve-worker';
import { startWorker } from '../../kit/worker/start-worker';
import { createWorkerMetrics } from '../../kit/worker/worker-metrics';
import { createApkHandlers } from './handler';
import { type ApkWorkerSettings } from './settings';

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
    cpuMs: settings.APK_WORKER_CPU_MS,
    heapMebibytes: settings.APK_WORKER_HEAP_MB,
  });
  metrics.watchPool('analyses', levels);
  return startWorker('apk', { settings, log, tls, metrics, handlers: { Analyze: Analyze as WorkerHandler } });
}
