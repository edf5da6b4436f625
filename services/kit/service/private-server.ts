import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Registry } from 'prom-client';
import { KEEP_ALIVE_MS } from '../../../plugins/core/keep-alive';
import { CONTEXT_HEADER } from '../../../plugins/core/proof/context-token';
import { scrubText } from '../log';
import { type DataAge } from './define-service';
import { type LiveRoute } from './live-routes';

/** Handles `POST /refunds`. Takes the value of `X-Tollgate-Context`. */
type AnswerRefund = (proof: string | undefined) => Promise<{ readonly status: number; readonly body: unknown }>;

/** Called by `/ready`. Throws when the process cannot serve, with a text for platform engineers. */
export type ReadyCheck = () => void | Promise<void>;

export interface PrivateServerOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly metrics: { readonly registry: Registry };
  /** Checks by name of service or worker. */
  readonly checks: Readonly<Record<string, ReadyCheck>>;
  /** Gives units back. Only processes that reach the counter have it; without it the path does not exist. */
  readonly answerRefund?: AnswerRefund | undefined;
  /** Whether each product has a live source, as far as this process knows. */
  readonly live?: Readonly<Record<string, boolean>>;
  /** When each route serves live keys, by product. */
  readonly liveRoutes?: Readonly<Record<string, readonly LiveRoute[]>>;
  /** Age of the data on disk, by product. */
  readonly data?: () => Promise<Readonly<Record<string, readonly DataAge[]>>>;
}

export interface PrivateServer {
  readonly url: string;
  /** Makes `/ready` 503 from now on, so that gateways send no new requests. */
  startDraining(): void;
  close(): Promise<void>;
}

/** Milliseconds for each check. */
const CHECK_TIMEOUT_MS = 2_000;

async function outcomeOf(check: ReadyCheck): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>(
    (resolve) => (timer = setTimeout(() => resolve(`no response within ${CHECK_TIMEOUT_MS} ms`), CHECK_TIMEOUT_MS)),
  );
  const checked = (async () => {
    await check();
    return 'ok';
  })().catch((error: unknown) => scrubText(error instanceof Error ? error.message : String(error)));
  const outcome = await Promise.race([checked, late]);
  clearTimeout(timer);
  return outcome;
}

function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' }).end(JSON.stringify(body));
}

/**
 * Serves platform engineers, orchestrators and the dashboard: `/metrics` (Prometheus), `/health` (the process lives), `/ready` (it can
 * serve) and `/live` (which products have a live source, which routes need it, and how old their data is). For upstreams outside Tollgate
 * it serves `POST /refunds`, which takes the proof of the failed request as its only credential.
 */
export async function startPrivateServer(options: PrivateServerOptions): Promise<PrivateServer> {
  const { metrics, checks, live = {}, liveRoutes = {}, data = () => Promise.resolve({}), answerRefund } = options;
  let draining = false;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    switch (request.url?.split('?')[0]) {
      case '/health':
        return answerJson(response, 200, { status: 'ok' });
      case '/live':
        return answerJson(response, 200, { products: live, routes: liveRoutes, data: await data() });
      case '/metrics':
        response.writeHead(200, { 'Content-Type': metrics.registry.contentType }).end(await metrics.registry.metrics());
        return;
      case '/ready': {
        const outcomes = await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await outcomeOf(check)] as const));
        const ready = !draining && outcomes.every(([, outcome]) => outcome === 'ok');
        return answerJson(response, ready ? 200 : 503, { ready, draining, checks: Object.fromEntries(outcomes) });
      }
      case '/refunds': {
        // The body is ignored, however long it is.
        request.resume();
        if (!answerRefund || request.method !== 'POST') return answerJson(response, 404, { status: 'not found' });
        const proof = request.headers[CONTEXT_HEADER.toLowerCase()];
        const { status, body } = await answerRefund(typeof proof === 'string' ? proof : undefined);
        return answerJson(response, status, body);
      }
      default:
        return answerJson(response, 404, { status: 'not found' });
    }
  }

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(options.port, options.host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    startDraining: () => {
      draining = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
