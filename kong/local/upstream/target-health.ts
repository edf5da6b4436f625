import { type HealthChecks } from '../config/upstream-schema';

/** What was learnt of a target, by a request or by a check of our own. */
export type TargetReport = { readonly kind: 'status'; readonly status: number } | { readonly kind: 'refused' | 'timeout' | 'connected' };
type Failure = 'http_failures' | 'tcp_failures' | 'timeouts';

/**
 * Whether one target may be sent requests, by Kong's rules: so many reports of one kind in a row change its standing, a threshold of 0
 * ignores that kind, and what a request and a check find counts together.
 */
export class TargetHealth {
  private healthy = true;
  private successes = 0;
  private failures: Record<Failure, number> = { http_failures: 0, tcp_failures: 0, timeouts: 0 };

  constructor(private readonly checks: HealthChecks) {}

  get isHealthy(): boolean {
    return this.healthy;
  }

  /** @param source whose thresholds and statuses apply */
  report(source: 'active' | 'passive', report: TargetReport): void {
    const { healthy, unhealthy, type } = this.checks[source];
    switch (report.kind) {
      case 'refused':
        this.fail('tcp_failures', unhealthy.tcp_failures);
        break;
      case 'timeout':
        this.fail('timeouts', unhealthy.timeouts);
        break;
      case 'connected':
        if (type === 'tcp') this.succeed(healthy.successes);
        break;
      case 'status':
        if (type === 'tcp') break;
        if (healthy.http_statuses.includes(report.status)) this.succeed(healthy.successes);
        else if (unhealthy.http_statuses.includes(report.status)) this.fail('http_failures', unhealthy.http_failures);
    }
  }

  private succeed(needed: number): void {
    if (needed === 0) return;
    this.resetFailures();
    if (this.healthy || ++this.successes < needed) return;
    this.healthy = true;
    this.successes = 0;
  }

  private fail(kind: Failure, needed: number): void {
    if (needed === 0) return;
    this.successes = 0;
    if (!this.healthy || ++this.failures[kind] < needed) return;
    this.healthy = false;
    this.resetFailures();
  }

  private resetFailures(): void {
    this.failures = { http_failures: 0, tcp_failures: 0, timeouts: 0 };
  }
}
