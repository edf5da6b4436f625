import { Counter, Histogram, Registry } from 'prom-client';
import { type RefundOutcome } from '../../plugins/core/catalogue/refunds';
import { watchProcess } from '../../plugins/tracing/process-metrics';

/** How an exchange with an upstream or a worker ended. `failed`: no usable exchange; `timeout`: the deadline passed. */
export type UpstreamOutcome = 'ok' | 'failed' | 'timeout' | 'cancelled';

/** What the kit counts. Labels hold route paths and configured names, never anything a caller sent. */
export interface Metrics {
  readonly registry: Registry;
  /** The same metrics; exchanges counted through it carry the name of the service or worker that asked. */
  forService(service: string): Metrics;
  /** @param seconds from the request's first byte to the response's last byte */
  countRequest(labels: { service: string; route: string; status: number; mode: string }, seconds: number): void;
  countRefund(labels: { service: string; outcome: RefundOutcome | 'late' | 'failed' }): void;
  /** @param seconds from the first attempt to the outcome */
  countUpstream(labels: { upstream: string; outcome: UpstreamOutcome }, seconds: number): void;
}

/** Seconds, from a cache hit to the longest upload. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** @param options.withProcess adds CPU, memory, event-loop and clock figures of this process; once a process */
export function createMetrics(options: { withProcess?: boolean } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (options.withProcess) watchProcess(registry);
  const requests = new Counter({
    name: 'tollgate_requests_total',
    help: 'Requests with a response.',
    labelNames: ['service', 'route', 'status', 'mode'] as const,
    registers,
  });
  const durations = new Histogram({
    name: 'tollgate_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of its response.',
    labelNames: ['service', 'route'] as const,
    buckets: BUCKETS,
    registers,
  });
  const refunds = new Counter({
    name: 'tollgate_refunds_total',
    help: 'Quota units of failed requests that were to be given back.',
    labelNames: ['service', 'outcome'] as const,
    registers,
  });
  const upstreams = new Histogram({
    name: 'tollgate_upstream_duration_seconds',
    help: 'Time of exchanges with upstreams and workers, retries included.',
    labelNames: ['service', 'upstream', 'outcome'] as const,
    buckets: BUCKETS,
    registers,
  });
  const createFor = (asking: { service?: string }): Metrics => ({
    registry,
    forService: (service) => createFor({ service }),
    countRequest: ({ service, route, status, mode }, seconds) => {
      requests.inc({ service, route, status, mode });
      durations.observe({ service, route }, seconds);
    },
    countRefund: (labels) => refunds.inc(labels),
    countUpstream: (labels, seconds) => upstreams.observe({ ...asking, ...labels }, seconds),
  });
  return createFor({});
}
