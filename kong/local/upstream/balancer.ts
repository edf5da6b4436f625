import { TargetHealth, type TargetReport } from './target-health';
import { UpstreamPool } from './upstream-pool';
import { type UpstreamAddress } from './upstream-tls';
import { upstreamSchema, type HealthChecks } from '../config/upstream-schema';

export interface TargetAddress extends UpstreamAddress {
  readonly weight: number;
}

/** One address of a service, with the connections to it. */
export interface Target extends TargetAddress {
  readonly pool: UpstreamPool;
  readonly health: TargetHealth;
}

export interface BalancerOptions {
  readonly targets: readonly TargetAddress[];
  readonly connectTimeoutMs: number;
  readonly healthChecks?: HealthChecks | undefined;
}

const NO_CHECKS: HealthChecks = upstreamSchema.shape.healthchecks.parse({});

interface Turn {
  readonly target: Target;
  credit: number;
}

/** The addresses of one service in turn, each as often as its weight says, without those that are known to be away. */
export class Balancer {
  readonly targets: readonly Target[];
  private readonly turns: readonly Turn[];

  constructor({ targets, connectTimeoutMs, healthChecks = NO_CHECKS }: BalancerOptions) {
    this.targets = targets.map(({ host, port, tls, weight }) => ({
      host,
      port,
      tls,
      weight,
      pool: new UpstreamPool({ host, port, tls, connectTimeoutMs }),
      health: new TargetHealth(healthChecks),
    }));
    this.turns = this.targets.map((target) => ({ target, credit: 0 }));
  }

  /**
   * Undefined when none can be sent anything: Kong then answers 503.
   * @param tried addresses that failed this request; one of them is taken only when there is no other
   */
  next(tried: readonly Target[] = []): Target | undefined {
    const usable = this.turns.filter(({ target }) => target.weight > 0 && target.health.isHealthy);
    const untried = usable.filter(({ target }) => !tried.includes(target));
    const candidates = untried.length > 0 ? untried : usable;
    let best: Turn | undefined;
    let total = 0;
    for (const turn of candidates) {
      turn.credit += turn.target.weight;
      total += turn.target.weight;
      if (best === undefined || turn.credit > best.credit) best = turn;
    }
    if (best) best.credit -= total;
    return best?.target;
  }

  report(target: Target, report: TargetReport): void {
    target.health.report('passive', report);
  }

  /** Nothing new is sent: what is under way ends as it began. */
  retire(): void {
    for (const { pool } of this.targets) pool.retire();
  }

  close(): void {
    for (const { pool } of this.targets) pool.close();
  }
}
