import { type WindowStanding } from '../../contract/plans';

export interface WindowUse {
  readonly used: number;
  readonly limit: number;
  /** Unix seconds. */
  readonly startsAt: number;
  readonly endsAt: number;
  /** For a month: no more than this can be used on a day, however fast the first calls came. */
  readonly mostADay?: number;
}

/** Below this, too little was used to forecast the rest of a window. */
const MIN_UNITS = 10;
const MIN_SECONDS = 600;
const DAY_S = 86_400;

/**
 * Unix seconds at which the limit is reached if use goes on as it was since `since`; undefined if that cannot be said or does not happen.
 */
function exhaustedAt({ used, limit, endsAt, mostADay }: WindowUse, since: number, now: number): number | undefined {
  if (used >= limit) return now;
  const elapsed = now - since;
  if (used < MIN_UNITS || elapsed < MIN_SECONDS) return undefined;
  const perSecond = Math.min(used / elapsed, (mostADay ?? Infinity) / DAY_S);
  const at = now + (limit - used) / perSecond;
  return at < endsAt ? at : undefined;
}

function isoTime(seconds: number): string {
  return new Date(Math.floor(seconds) * 1000).toISOString();
}

/**
 * The state of a window, and when its limit is reached at the window's rate so far.
 * @param times Unix seconds; `subscribedAt`: a subscription younger than the window is measured from its beginning
 */
export function windowStanding(use: WindowUse, times: { readonly now: number; readonly subscribedAt: number }): WindowStanding {
  const at = exhaustedAt(use, Math.max(use.startsAt, times.subscribedAt), times.now);
  return { used: use.used, limit: use.limit, resetsAt: isoTime(use.endsAt), exhaustedAt: at === undefined ? null : isoTime(at) };
}
