import { join } from 'node:path';
import { createLog } from '../../../services/kit/log';
import { loadService } from '../../../services/kit/worker/load-proto';
import { serveWorker, type WorkerHandler, type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { GrpcWorkerClient, type WorkerClientOptions } from '../../../services/kit/worker/worker-client';

export const service = loadService(join(__dirname, 'protos/echo.proto'), 'echo.v1.EchoWorker');

export type Methods = {
  Say: { request: { text: string }; response: { saidText: string; caller: string } };
  Sum: { request: { chunk: Buffer }; response: { total: number } };
};

async function sum(requests: AsyncIterable<{ chunk: Buffer }>): Promise<{ total: number }> {
  let total = 0;
  for await (const { chunk } of requests) total += chunk.length;
  return { total };
}

const log = createLog('echo', { level: 'silent' });
const sayText = ({ text }: { text: string }) => ({ saidText: text, caller: '' });

/** A worker that says what it is told and sums what it is sent, unless the test has other handlers. */
export function serveEcho(
  handlers: Readonly<Record<string, WorkerHandler>> = {},
  options: Partial<Parameters<typeof serveWorker>[0]> = {},
): Promise<WorkerServer> {
  return serveWorker({
    name: 'echo',
    service,
    handlers: { Say: sayText, Sum: sum, ...handlers },
    host: '127.0.0.1',
    port: 0,
    log,
    ...options,
  });
}

export function echoClient(servers: readonly { readonly address: string }[], options: Partial<WorkerClientOptions> = {}) {
  const [first, ...rest] = servers.map(({ address }) => address);
  return new GrpcWorkerClient<Methods>({ service, addresses: [first ?? '', ...rest], name: 'echo', ...options });
}
