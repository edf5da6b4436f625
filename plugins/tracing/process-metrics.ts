import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** What each process tells of itself: processor, memory, event loop, and its clock, which Prometheus compares with its own. */
export function watchProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'tollgate_clock_seconds',
    help: 'Seconds since 1970 by the clock of this process.',
    // Workers of one plugin server have one clock.
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.set(Date.now() / 1_000);
    },
  });
}
