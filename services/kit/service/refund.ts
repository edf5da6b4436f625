import { type RequestContext } from '../../../plugins/core/context-token';
import { type Log } from '../log';
import { type Metrics } from '../metrics';

/**
 * Gives one unit back to the day it was taken from.
 * @returns false when this request was refunded before
 * @throws whatever the counter's store throws
 */
export type Refund = (unit: { subscriptionId: string; day: string; requestId: string }) => Promise<boolean>;

/**
 * An answer waits this long for its refund; then it is sent as charged and the refund completes on its own. The caller of a failed
 * upstream has waited longer already, and an answer that says what really was charged is worth a quarter of a second.
 */
const REFUND_WAIT_MS = 250;

/** Our own failure to serve is not the customer's request. */
export function isRefundable(status: number): boolean {
  return status === 502 || status === 504;
}

export interface RefundTools {
  readonly refund: Refund;
  readonly service: string;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly waitMs?: number;
}

/**
 * Gives the unit of this request back.
 * @returns true when the store confirmed in time, false when the answer must say that the unit stays charged. Never throws.
 */
export async function giveUnitBack(proof: RequestContext, tools: RefundTools): Promise<boolean> {
  const { refund, service, log, metrics, waitMs = REFUND_WAIT_MS } = tools;
  if (proof.chargedDay === null) return false;
  const unit = { subscriptionId: proof.subscriptionId, day: proof.chargedDay, requestId: proof.requestId };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), waitMs);
  });
  // The store's promise is settled here whatever happens, so that a late failure is logged and not unhandled.
  const attempt = (async () => ((await refund(unit)) ? ('refunded' as const) : ('repeated' as const)))().catch((error: unknown) => {
    log.error({ err: error, requestId: unit.requestId }, 'a quota unit could not be given back');
    return 'failed' as const;
  });
  const outcome = await Promise.race([attempt, late]);
  clearTimeout(timer);
  metrics.countRefund({ service, outcome });
  // A repeated refund means that the unit is back already: the caller was not charged.
  return outcome === 'refunded' || outcome === 'repeated';
}
