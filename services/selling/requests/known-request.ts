import { type QuotaLimits } from '../../../plugins/core/catalogue/catalogue';
import { type Answer, type Decision } from '../../../plugins/core/ports';
import { denialOf, refusalIn, wouldRefuse } from '../../../plugins/core/problems';

/** The gateway's report of a response. `isFromApi` is undefined if not known. */
export type ReportedAnswer = Pick<Answer, 'status' | 'bytes' | 'units'> & {
  readonly milliseconds: number;
  readonly isFromApi: boolean | undefined;
};

/** A recorded decision, with what is known of its plan, its response and its product. */
export interface KnownRequest extends Decision {
  /** Requests that the price includes, if the plan sells more up to the decision's limits. */
  readonly included?: QuotaLimits | undefined;
  /** Absent until the gateway reports it. */
  readonly answer?: ReportedAnswer | undefined;
  /** True if units of it were given back. Known for three days. */
  readonly isGivenBack?: boolean | undefined;
  /** True if the product's responses report their cost. */
  readonly isPricedByAnswer?: boolean | undefined;
  readonly productTitle?: string | undefined;
  /** The outage of the product at the time of the request; `until` is absent while it goes on. ISO 8601, UTC. */
  readonly outage?: { readonly since: string; readonly until?: string | undefined } | undefined;
}

/** A gateway reports a response within seconds of its end. After this long there will be no report. */
const RUNS_MS = 60_000;

/** True if the response may still come or be reported. */
export function isUnderWay(atMs: number, nowMs: number): boolean {
  return nowMs - atMs < RUNS_MS;
}

/** Refunds are kept for eight UTC days; older than three days is not relied on. */
const REFUND_KNOWN_MS = 3 * 86_400_000;

/** True if it is still known whether a request was given back. */
export function isRefundKnown(atMs: number, nowMs: number): boolean {
  return nowMs - atMs < REFUND_KNOWN_MS;
}

/** A revoked key reads like an unknown one to everybody who does not own it. */
function outcomeForStrangers(outcome: Decision['outcome']): Decision['outcome'] {
  if (denialOf(outcome) !== 'key_inactive') return outcome;
  return refusalIn(outcome) === undefined ? wouldRefuse('key_unknown') : 'key_unknown';
}

/** The request as anybody who has its id may see it: what its caller sent, and the check that failed. */
export function asStrangersSee(request: KnownRequest): KnownRequest {
  const { requestId, atMs, products, outcome, method, rawPath, keyPlace, maskedKey, productTitle, outage } = request;
  const nothing = { credentialId: undefined, customerId: undefined, subscriptionId: undefined, product: undefined };
  const unseen = { ...nothing, callerAddress: undefined, originHost: undefined, matchedRule: undefined, quota: undefined };
  return {
    ...{ requestId, atMs, products, outcome: outcomeForStrangers(outcome), keyPlace, maskedKey, ...unseen },
    ...(method !== undefined && { method }),
    ...(rawPath !== undefined && { rawPath }),
    ...{ productTitle, outage },
  };
}
