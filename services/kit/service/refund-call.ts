import { type Clock } from '../../../plugins/core/ports';
import { type ContextKeys, verifyContext } from '../../../plugins/core/proof/verify-context';
import { problemOf, type Problem, type ProblemCode } from '../../../plugins/core/problems';
import { type Log } from '../log';
import { type Metrics } from '../metrics';
import { newRequestId } from './context';
import { type ChargeOutcome, giveUnitBack, type Refund } from './refund';

export interface RefundCallTools {
  readonly contextKeys: ContextKeys;
  /** Products of Tollgate's own services. These give units back themselves. */
  readonly ownProducts: ReadonlySet<string>;
  /** Products whose responses report their cost. A response of 0 units gives units back. */
  readonly isPricedByAnswer: (product: string) => boolean;
  /** Undefined when this process is not connected to a counter. */
  readonly refund: Refund | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A JSON response. */
export interface RefundAnswer {
  readonly status: number;
  readonly body: Problem | { readonly charge: ChargeOutcome; readonly units: number; readonly request_id: string };
}

/** Milliseconds. The upstream has sent its own response by now, so it can wait longer for the counter than a caller would. */
const WAIT_MS = 5_000;
/** The label in metrics for an upstream outside Tollgate, which has no service. */
const SERVICE = 'other-upstreams';

function refusal(code: ProblemCode): RefundAnswer {
  const body = problemOf(code, { requestId: newRequestId() });
  return { status: body.status, body };
}

/**
 * Gives the units of one request back because its upstream, outside Tollgate, failed. The request's proof shows that the caller is that
 * upstream: API callers never see the proof, it names subscription, day and request, and it is valid for a minute. The counter gives each
 * request back once, and no more than its cap a day.
 * @returns a function of the value of `X-Tollgate-Context`. It gives 200 with `charge` (`given-back`, `capped`, `kept`), 401, or 503
 * without a counter
 */
export function createRefundCall(tools: RefundCallTools): (proof: string | undefined) => Promise<RefundAnswer> {
  const { contextKeys, ownProducts, isPricedByAnswer, refund, clock, log, metrics } = tools;
  const products = { includes: (id: string) => !ownProducts.has(id) };
  return async (proof) => {
    const verdict = verifyContext(proof, contextKeys, { products, nowSeconds: clock.now() / 1000 });
    if (!verdict.ok) return refusal('gateway_proof_missing');
    if (!refund) return refusal('service_not_ready');
    const { requestId, product, units } = verdict.context;
    const charge = isPricedByAnswer(product)
      ? 'kept'
      : await giveUnitBack(verdict.context, { refund, service: SERVICE, log, metrics, waitMs: WAIT_MS });
    log.info({ requestId, product, charge }, 'an upstream gave units back');
    return { status: 200, body: { charge, units: units ?? 1, request_id: requestId } };
  };
}
