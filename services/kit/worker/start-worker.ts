import { type WorkerProcessSettings } from '../config';
import { loadWorkerService } from './load-proto';
import { type WorkerKind } from '../worker-kind';
import { type WorkerTools } from './run-worker';
import { serveWorker, type WorkerHandler, type WorkerServer } from './serve-worker';

export interface StartWorkerOptions extends WorkerTools {
  readonly settings: Pick<WorkerProcessSettings, 'WORKER_HOST' | 'WORKER_PORT'>;
  /** A handler for every method of the worker's proto. */
  readonly handlers: Readonly<Record<string, WorkerHandler>>;
  readonly maxMessageBytes?: number;
  /** Closes what the handlers used, once no call is left. */
  readonly close?: () => Promise<unknown>;
}

/** Serves one kind of worker over gRPC until it is closed. */
export async function startWorker(kind: WorkerKind, { settings, close, ...options }: StartWorkerOptions): Promise<WorkerServer> {
  const address = { host: settings.WORKER_HOST, port: settings.WORKER_PORT };
  const server = await serveWorker({ name: kind, service: loadWorkerService(kind), ...address, ...options });
  return {
    ...server,
    close: async (drainMs) => {
      await server.close(drainMs);
      await close?.();
    },
  };
}
