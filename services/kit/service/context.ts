import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';
import { CONTEXT_HEADER, type RequestContext } from '../../../plugins/core/proof/context-token';
import { verifyContext, type ContextKeys } from '../../../plugins/core/proof/verify-context';
import { rateLimitHeaders, type QuotaReport } from '../../../plugins/core/access/quota';
import { type SettledCharge } from './refund';

const PROOF_HEADER = CONTEXT_HEADER.toLowerCase();
const REQUEST_ID_HEADER = 'x-kong-request-id';
/** Kong's ids are 32 hex digits; other gateways may use other forms. Any other character could forge log lines. */
const REQUEST_ID = /^[\w-]{1,64}$/;

/** Headers that a handler never sees. */
const HIDDEN_HEADERS = new Set([PROOF_HEADER, 'authorization', 'proxy-authorization', 'cookie', 'x-api-key']);

export interface ProofCheck {
  readonly keys: ContextKeys;
  /** Product ids. A proof for another product is refused. */
  readonly products: readonly string[];
  /** True if a proof made for a link is accepted too. */
  readonly links?: boolean | undefined;
  /** Unix milliseconds. */
  readonly nowMs: number;
}

/** The verified proof of a request, or undefined when it did not come through the gateway for one of these products. */
export function findProof(headers: IncomingHttpHeaders, check: ProofCheck): RequestContext | undefined {
  const token = headers[PROOF_HEADER];
  if (typeof token !== 'string') return undefined;
  const verdict = verifyContext(token, check.keys, { products: check.products, links: check.links, nowSeconds: check.nowMs / 1000 });
  return verdict.ok ? verdict.context : undefined;
}

/** The id that the caller sees in `X-Kong-Request-Id` and in a problem's `request_id`. */
export function requestIdOf(headers: IncomingHttpHeaders, proof: RequestContext | undefined): string {
  const given = headers[REQUEST_ID_HEADER];
  if (typeof given === 'string' && REQUEST_ID.test(given)) return given;
  return proof?.requestId ?? newRequestId();
}

/** A new id in Kong's form: 32 hex digits. */
export function newRequestId(): string {
  return randomUUID().replaceAll('-', '');
}

/** One header for a handler. Repeats are joined as Node does; credentials read as absent. */
export function visibleHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  if (HIDDEN_HEADERS.has(name)) return undefined;
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

function givenBack(report: QuotaReport, units: number): QuotaReport {
  if (units === 0) return report;
  const withUnits = (window: QuotaReport['daily']): QuotaReport['daily'] => ({
    ...window,
    remaining: Math.min(window.limit, window.remaining + units),
  });
  const { daily, monthly, included } = report;
  return { ...report, daily: withUnits(daily), monthly: withUnits(monthly), ...(included && { included: withUnits(included) }) };
}

/**
 * Headers that describe the access decision: RateLimit fields, how many units stay charged, test mode.
 * @param settled undefined when this response gives nothing back
 * @param nowMs Unix milliseconds
 */
export function accessHeaders(proof: RequestContext, settled: SettledCharge | undefined, nowMs: number): Record<string, string> {
  const headers: Record<string, string> = {};
  const { units = 1 } = proof;
  const returned = settled?.givenBack ?? 0;
  if (proof.quota) Object.assign(headers, rateLimitHeaders(givenBack(proof.quota, returned), nowMs / 1000));
  if (proof.chargedDay !== null) headers['X-Tollgate-Charged'] = String(units - returned);
  if (settled?.isCapped) headers['X-Tollgate-Refund'] = 'capped';
  if (proof.mode === 'test') headers['X-Tollgate-Mode'] = 'test';
  return headers;
}
