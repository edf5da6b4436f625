import { type QuotaLimits } from '../../core/selling/catalogue';
import { type RefundRequest } from '../../core/ports';
import { type QuotaStanding } from '../../core/access/quota';
import { type RefundOutcome } from '../../core/selling/refunds';

/**
 * The parts of a count. Each only ever grows and has one author, so two views of a part merge by taking the larger one, in any order
 * and any number of times: that is how Redis and Postgres agree again after either was away.
 */
export interface UsageParts {
  /** Units granted through Redis; Redis is the author, Postgres keeps what nodes saw of it. */
  readonly redis: number;
  /** Units granted by Postgres; Postgres is the author. */
  readonly postgres: number;
  /** Units given back; Postgres is the author, because only it knows every request id that was refunded. */
  readonly refunded: number;
}

export const NO_USAGE: UsageParts = { redis: 0, postgres: 0, refunded: 0 };

/** What a store knows of one subscription on one day and in that day's month. */
export interface SubscriptionUsage {
  readonly subscriptionId: string;
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly day: string;
  readonly ofDay: UsageParts;
  readonly ofMonth: UsageParts;
}

/** Units that count against a limit; never negative. */
export function usedOf(parts: UsageParts): number {
  return Math.max(0, parts.redis + parts.postgres - parts.refunded);
}

/** True when `a` holds a unit that `b` does not. */
export function knowsMore(a: UsageParts, b: UsageParts): boolean {
  return a.redis > b.redis || a.postgres > b.postgres || a.refunded > b.refunded;
}

/** Some units wanted of one subscription; 0 units only ask where it stands. */
export interface Demand {
  readonly subscriptionId: string;
  readonly limits: QuotaLimits;
  readonly units: number;
  /** Where fewer than so many are left, none is taken: one request may cost several units. Absent: any number is of use. */
  readonly least?: number | undefined;
}

/** How many were taken, and where the subscription stands after it. */
export interface Taken {
  readonly granted: number;
  readonly standing: QuotaStanding;
}

/** A counter that takes any number of units at once: Redis, Postgres, or one behind the other. */
export interface QuotaBackend {
  /** @throws StoreUnavailable */
  take(demand: Demand): Promise<Taken>;
  /** @throws StoreUnavailable */
  refund(refund: RefundRequest): Promise<RefundOutcome>;
}

/** The part of a pino logger that the stores use. */
export interface StoreLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
