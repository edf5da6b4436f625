import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type ProblemCode } from '../../../plugins/core/problems';
import { createMetrics, type Metrics } from '../metrics';

/** How a call ended: `cancelled` when the service gave up first, else the problem's code from the table. */
export type CallOutcome = 'ok' | 'cancelled' | ProblemCode;

/** Numbers of pieces of work that run in a bounded number of places, and that wait for one. */
export interface PoolLevels {
  readonly waiting: number;
  readonly busy: number;
  readonly size: number;
}

/** What the kit counts of one worker process. Labels hold names of methods, pools and upstreams only. */
export interface WorkerMetrics {
  readonly registry: Registry;
  /** Metrics of the exchanges with this worker's upstreams. */
  readonly upstreams: Metrics;
  /** @returns a function to call once, with how the call ended */
  callStarted(method: string): (outcome: CallOutcome) => void;
  /** `read` is called when metrics are read. */
  watchPool(pool: string, read: () => PoolLevels): void;
  /** Counts open sessions. `read` is called when metrics are read. */
  watchSessions(product: string, read: () => number): void;
}

/** Seconds, from a look into a table to the longest analysis. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

class PoolGauges {
  private readonly pools = new Map<string, () => PoolLevels>();

  constructor(worker: string, registry: Registry) {
    const { pools } = this;
    const gauge = (name: string, help: string, of: (levels: PoolLevels) => number): void => {
      new Gauge({
        name: `tollgate_worker_${name}`,
        help,
        labelNames: ['worker', 'pool'] as const,
        registers: [registry],
        collect() {
          for (const [pool, read] of pools) this.set({ worker, pool }, of(read()));
        },
      });
    };
    gauge('queue_waiting', 'Work waiting for a free place.', ({ waiting }) => waiting);
    gauge('pool_busy', 'Places in use.', ({ busy }) => busy);
    gauge('pool_size', 'Places in all.', ({ size }) => size);
  }

  add(pool: string, read: () => PoolLevels): void {
    this.pools.set(pool, read);
  }
}

function createSessionGauge(worker: string, registry: Registry): (product: string, read: () => number) => void {
  const products = new Map<string, () => number>();
  new Gauge({
    name: 'tollgate_worker_sessions_open',
    help: 'Sessions of this worker.',
    labelNames: ['worker', 'product'] as const,
    registers: [registry],
    collect() {
      for (const [product, read] of products) this.set({ worker, product }, read());
    },
  });
  return (product, read) => void products.set(product, read);
}

function createCallMetrics(worker: string, registry: Registry): WorkerMetrics['callStarted'] {
  const registers = [registry];
  const calls = new Counter({
    name: 'tollgate_worker_calls_total',
    help: 'Calls that ended, by outcome.',
    labelNames: ['worker', 'method', 'outcome'] as const,
    registers,
  });
  const durations = new Histogram({
    name: 'tollgate_worker_call_duration_seconds',
    help: 'Time from the call to its end, waiting included.',
    labelNames: ['worker', 'method'] as const,
    buckets: BUCKETS,
    registers,
  });
  const running = new Gauge({
    name: 'tollgate_worker_calls_running',
    help: 'Calls running.',
    labelNames: ['worker'] as const,
    registers,
  });
  running.set({ worker }, 0);
  return (method) => {
    const startedAt = performance.now();
    running.inc({ worker });
    return (outcome) => {
      running.dec({ worker });
      calls.inc({ worker, method, outcome });
      durations.observe({ worker, method }, (performance.now() - startedAt) / 1000);
    };
  };
}

/**
 * @param worker for example `identity`
 * @param options.withProcess adds CPU, memory and event-loop figures of this process; once a process
 */
export function createWorkerMetrics(worker: string, options: { withProcess?: boolean } = {}): WorkerMetrics {
  const upstreams = createMetrics(options).forService(`${worker}-worker`);
  const { registry } = upstreams;
  const pools = new PoolGauges(worker, registry);
  return {
    registry,
    upstreams,
    callStarted: createCallMetrics(worker, registry),
    watchPool: (pool, read) => pools.add(pool, read),
    watchSessions: createSessionGauge(worker, registry),
  };
}
