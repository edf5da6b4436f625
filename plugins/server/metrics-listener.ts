import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Registry } from 'prom-client';
import { KEEP_ALIVE_MS } from '../core/keep-alive';

export interface MetricsListenerOptions {
  /** Loopback by default, because the listener asks for no password. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly registry: Pick<Registry, 'metrics' | 'contentType'>;
}

export interface MetricsListener {
  readonly port: number;
  close(): Promise<void>;
}

/** `GET /metrics` for Prometheus, and nothing else. */
export async function startMetricsListener({ host, port, registry }: MetricsListenerOptions): Promise<MetricsListener> {
  const server: Server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
