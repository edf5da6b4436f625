import { type RequestContext } from '../../../plugins/core/proof/context-token';
import { type RefundRequest } from '../../../plugins/core/ports';
import { counterOf } from '../../../plugins/core/access/subscription';
import { type RefundOutcome, restIdOf } from '../../../plugins/core/catalogue/refunds';
import { type Log } from '../log';
import { type Metrics } from '../metrics';

/**
 * Gives a request's units back to the day on which they were taken.
 * @throws whatever the counter's store throws
 */
export type Refund = (taken: RefundRequest) => Promise<RefundOutcome>;

/** What became of charged units. `capped`: the subscription's refunds of that day are used up. */
export type ChargeOutcome = 'given-back' | 'capped' | 'kept';

/** What a response gives back. */
export interface SettledCharge {
  readonly givenBack: number;
  /** True if more was owed than the refunds of the day allow. */
  readonly isCapped: boolean;
}

/**
 * A response waits this long for its refund. Then it is sent as charged, and the refund completes on its own. The caller of a failed
 * upstream has waited longer already, and a response that says what really was charged is worth a second.
 */
const REFUND_WAIT_MS = 1_000;

export interface RefundTools {
  /** True if nothing failed and the catalogue makes the response free. */
  readonly isExempt?: boolean;
  /** True for units that were reserved but not used. */
  readonly isRest?: boolean;
  /** Units to give back; all unless given. */
  readonly units?: number;
  readonly refund: Refund;
  readonly service: string;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly waitMs?: number;
}

/**
 * Gives the units of this request back. Never throws.
 * @returns `given-back` only when the store confirmed in time
 */
export async function giveUnitBack(proof: RequestContext, tools: RefundTools): Promise<ChargeOutcome> {
  const { subscriptionId, mode, requestId, chargedDay: day, quota, units: taken = 1 } = proof;
  const { refund, service, log, metrics, isExempt, isRest = false, units = taken, waitMs = REFUND_WAIT_MS } = tools;
  if (day === null) return 'kept';
  const request = {
    subscriptionId: counterOf(subscriptionId, mode),
    day,
    requestId: isRest ? restIdOf(requestId) : requestId,
    dailyLimit: quota?.daily.limit ?? 0,
    units,
    ...(isRest ? { isRest } : { isExempt }),
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), waitMs);
  });
  // The promise is settled here in any case, so that a late failure is logged instead of being unhandled.
  const attempt = (async () => refund(request))().catch((error: unknown) => {
    log.error({ err: error, requestId }, 'quota units could not be given back');
    return 'failed' as const;
  });
  const outcome = await Promise.race([attempt, late]);
  clearTimeout(timer);
  if (!isRest) metrics.countRefund({ service, outcome });
  if (outcome === 'capped') return 'capped';
  // A repeated refund means that the units are back already: the caller was not charged.
  return outcome === 'refunded' || outcome === 'repeated' ? 'given-back' : 'kept';
}
