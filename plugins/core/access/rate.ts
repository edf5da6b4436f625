import { type Rate } from '../catalogue/catalogue';

/**
 * A rate is kept by the generic cell rate algorithm, in whole numbers: a request adds {@link REQUEST_COST} to a subscription's debt, each
 * microsecond pays {@link paceOf} of it, and a request is refused if the debt would exceed that of a whole burst. A request costs the same
 * at every rate, so that a changed plan keeps the debt. Sixty million divides into whole payments for every limit a second or a minute. The
 * stores run it by their own clock, so that all nodes share one clock and none uses its own. All figures stay below 2^53.
 */
export const REQUEST_COST = 60_000_000;

/** The part of a debt that a microsecond pays. */
export function paceOf({ limit, windowSeconds }: Rate): number {
  return limit * (60 / windowSeconds);
}

/** The state of a subscription's rate. */
export interface RateStanding {
  /** Requests that may come at once now. */
  readonly remaining: number;
  /** Microseconds until one more request may come; 0 when the whole burst is there. */
  readonly waitUs: number;
}

/** @param debt after this request, as the store keeps it */
export function rateStandingOf(debt: number, rate: Rate): RateStanding {
  const whole = rate.burst * REQUEST_COST;
  const known = Math.min(debt, whole);
  const remaining = Math.floor((whole - known) / REQUEST_COST);
  const waitUs = known === 0 ? 0 : Math.ceil((known - (whole - (remaining + 1) * REQUEST_COST)) / paceOf(rate));
  return { remaining, waitUs };
}

/** The report of a rate in the RateLimit fields. */
export interface RateReport {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Whole seconds until one more request may come; 0 when the whole burst is there. */
  readonly waitSeconds: number;
}

export function reportRate({ remaining, waitUs }: RateStanding, { limit, windowSeconds }: Rate): RateReport {
  return { limit, windowSeconds, remaining, waitSeconds: Math.ceil(waitUs / 1_000_000) };
}

/** `10 requests a second, bursts of 20` */
export function describeRate({ limit, windowSeconds, burst }: Rate): string {
  const requests = `${limit.toLocaleString('en-GB')} ${limit === 1 ? 'request' : 'requests'}`;
  return `${requests} a ${windowSeconds === 1 ? 'second' : 'minute'}, bursts of ${burst.toLocaleString('en-GB')}`;
}
