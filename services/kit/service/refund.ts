import { type RequestContext } from '../../../plugins/core/proof/context-token';
import { type RefundRequest } from '../../../plugins/core/ports';
import { counterOf } from '../../../plugins/core/access/subscription';
import { type RefundOutcome } from '../../../plugins/core/catalogue/refunds';
import { type Log } from '../log';
import { type Metrics } from '../metrics';

/**
 * Gives a request's units back to the day they were taken from.
 * @throws whatever the counter's store throws
 */
export type Refund = (taken: RefundRequest) => Promise<RefundOutcome>;

/** What became of charged units. `capped`: the subscription's refunds of that day are used up. */
export type Charge = 'given-back' | 'capped' | 'kept';

export interface SettledRefund {
  readonly charge: Charge;
  /** That were to be given back: all that the request cost, or all but one. */
  readonly units: number;
}

/**
 * An answer waits this long for its refund; then it is sent as charged and the refund completes on its own. The caller of a failed
 * upstream has waited longer already, and an answer that says what really was charged is worth a quarter of a second.
 */
const REFUND_WAIT_MS = 250;

export interface RefundTools {
  /** True where nothing failed: the catalogue charges nothing, or the request was refused before its work. */
  readonly isExempt?: boolean;
  /** Fewer than the request cost, where the rest stays charged. */
  readonly units?: number;
  readonly refund: Refund;
  readonly service: string;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly waitMs?: number;
}

/**
 * Gives the units of this request back.
 * @returns `given-back` only when the store confirmed in time. Never throws.
 */
export async function giveUnitBack(proof: RequestContext, tools: RefundTools): Promise<Charge> {
  const { subscriptionId, mode, requestId, chargedDay: day, quota, units: taken = 1 } = proof;
  const { refund, service, log, metrics, isExempt, units = taken, waitMs = REFUND_WAIT_MS } = tools;
  if (day === null) return 'kept';
  const request = {
    subscriptionId: counterOf(subscriptionId, mode),
    day,
    // A request's own id stands for one that was given back whole; one that stays charged in part has another.
    requestId: units === taken ? requestId : `${requestId}/part`,
    dailyLimit: quota?.daily.limit ?? 0,
    units,
    isExempt,
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), waitMs);
  });
  // The store's promise is settled here whatever happens, so that a late failure is logged and not unhandled.
  const attempt = (async () => refund(request))().catch((error: unknown) => {
    log.error({ err: error, requestId }, 'quota units could not be given back');
    return 'failed' as const;
  });
  const outcome = await Promise.race([attempt, late]);
  clearTimeout(timer);
  metrics.countRefund({ service, outcome });
  if (outcome === 'capped') return 'capped';
  // A repeated refund means that the units are back already: the caller was not charged.
  return outcome === 'refunded' || outcome === 'repeated' ? 'given-back' : 'kept';
}
