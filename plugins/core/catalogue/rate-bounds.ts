import { type Rate } from './catalogue';

/** Bound of a rate and of a burst. It keeps the stores' figures below 2^53 (plugins/core/access/rate.ts). */
export const MAX_A_SECOND = 100_000;

/** Number of requests in a day. A burst that is not larger lets every debt be paid within a day. */
export function dayOf({ limit, windowSeconds }: Pick<Rate, 'limit' | 'windowSeconds'>): number {
  return (limit * 86_400) / windowSeconds;
}

/** @returns what is wrong with a rate that does not come from the catalogue */
export function mistakeInRate(rate: Rate): string | undefined {
  const { limit, windowSeconds, burst } = rate;
  const isWithin = (count: number, most: number): boolean => Number.isInteger(count) && count >= 1 && count <= most;
  const most = MAX_A_SECOND * windowSeconds;
  if (!isWithin(limit, most)) return `the rate must be a whole number from 1 to ${most}`;
  const mostAtOnce = Math.min(MAX_A_SECOND, dayOf(rate));
  return isWithin(burst, mostAtOnce) ? undefined : `the burst must be a whole number from 1 to ${mostAtOnce}`;
}
