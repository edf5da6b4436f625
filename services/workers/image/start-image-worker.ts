import { type Log } from '../../kit/log';
import { type WorkerTools } from '../../kit/worker/run-worker';
import { type WorkerServer } from '../../kit/worker/serve-worker';
import { startWorker } from '../../kit/worker/start-worker';
import { sandboxAt } from '../../kit/upstream/upstream-target';
import { createWorkerMetrics, type WorkerMetrics } from '../../kit/worker/worker-metrics';
import { type Engine } from './engine';
import { createImageHandlers } from './handler';
import { IMAGE_LIMITS } from './limits';
import { type ThreadMethod } from './cut-out-job';
import { createLocalEngine } from './local/local-engine';
import { type ImageWorkerSettings } from './settings';
import { createUpstreamEngine } from './upstream/upstream-engine';

function methodOf(settings: ImageWorkerSettings): ThreadMethod {
  const { IMAGE_ONNX_MODEL: modelFile } = settings;
  if (modelFile === undefined) return { kind: 'grabcut' };
  const model = {
    modelFile,
    size: settings.IMAGE_ONNX_SIZE,
    mean: settings.IMAGE_ONNX_MEAN,
    std: settings.IMAGE_ONNX_STD,
    outputActivation: settings.IMAGE_ONNX_ACTIVATION,
  };
  return { kind: 'onnx', model };
}

/** Test calls always use the upstream engine, with the sandbox. Live calls use the first configured engine. */
function enginesOf(settings: ImageWorkerSettings, threadFile: string, metrics: WorkerMetrics): { live: Engine; test: Engine } {
  const upstream = createUpstreamEngine({
    target: {
      liveUrl: settings.IMAGE_UPSTREAM_URL,
      liveSetting: 'IMAGE_UPSTREAM_URL',
      sandboxUrl: sandboxAt({ sandboxUrl: settings.SANDBOX_URL }, '/background-removal/v1'),
    },
    token: settings.IMAGE_UPSTREAM_TOKEN,
    timeoutMs: settings.IMAGE_UPSTREAM_TIMEOUT_MS,
    metrics: metrics.upstreams,
  });
  if (settings.IMAGE_UPSTREAM_URL !== undefined) return { live: upstream, test: upstream };
  const method = methodOf(settings);
  const local = createLocalEngine({ threadFile, method, threads: settings.IMAGE_THREADS, queue: settings.IMAGE_QUEUE });
  metrics.watchPool('pictures', () => local.levels());
  return { live: local, test: upstream };
}

/**
 * Serves the worker over gRPC until it is closed.
 * @param threadFile the compiled `local/cut-out-thread`
 */
export function startImageWorker(
  settings: ImageWorkerSettings,
  log: Log,
  threadFile: string,
  { metrics = createWorkerMetrics('image'), tls }: Partial<Pick<WorkerTools, 'metrics' | 'tls'>> = {},
): Promise<WorkerServer> {
  const engines = enginesOf(settings, threadFile, metrics);
  const { RemoveBackground } = createImageHandlers({ engines, deadlineMs: settings.IMAGE_DEADLINE_MS });
  return startWorker('image', {
    settings,
    log,
    tls,
    metrics,
    handlers: { RemoveBackground: RemoveBackground },
    maxMessageBytes: IMAGE_LIMITS.messageBytes,
    close: () => Promise.all([engines.live.close(), engines.test.close()]),
  });
}
