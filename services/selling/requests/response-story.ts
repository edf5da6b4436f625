import { codeShown, denialOf, refusalIn, statusOf, titleOf } from '../../../plugins/core/problems';
import { isRefundKnown, isUnderWay, type KnownRequest, type ReportedAnswer } from './known-request';

/**
 * What happened to the units of a request. `none`: it took none. `settled`: the product's response reported its cost. `unknown`: so long
 * ago that refunds are no longer known.
 */
export type RequestCharge = 'none' | 'charged' | 'given_back' | 'settled' | 'unknown';

/** What the caller got. Time and size are null for a refusal, which the gateway sends itself. */
export interface ExplainedAnswer {
  readonly status: number;
  /** From the first byte of the request at the gateway to the last byte of the response. */
  readonly milliseconds: number | null;
  /** Bytes of the response's body. */
  readonly bytes: number | null;
  /** The cost of the request, even if it was given back later. */
  readonly units: number | null;
  readonly charge: RequestCharge;
}

/** nginx's status for a client that left before the response was sent. */
const CLIENT_LEFT = 499;
const CLIENT_ERROR = 400;
const SERVER_ERROR = 500;
const GATEWAY_TIMEOUT = 504;

function chargeOf({ atMs, quota, isGivenBack, isPricedByAnswer }: KnownRequest, { status }: ReportedAnswer, nowMs: number): RequestCharge {
  if (!quota) return 'none';
  if (isPricedByAnswer && status < SERVER_ERROR) return 'settled';
  if (isGivenBack) return 'given_back';
  return isRefundKnown(atMs, nowMs) ? 'charged' : 'unknown';
}

/** @returns undefined until the gateway reports it */
export function answerOf(request: KnownRequest, nowMs: number): ExplainedAnswer | undefined {
  const refusal = refusalIn(request.outcome);
  if (refusal !== undefined) return { status: statusOf(refusal), milliseconds: null, bytes: null, units: null, charge: 'none' };
  const { answer } = request;
  if (!answer) return undefined;
  const { status, milliseconds, bytes, units = null } = answer;
  return { status, milliseconds, bytes, units, charge: chargeOf(request, answer, nowMs) };
}

/** True while a response may still come or be reported. */
export function isAwaited({ outcome, answer, atMs }: KnownRequest, nowMs: number): boolean {
  return outcome === 'admitted' && !answer && isUnderWay(atMs, nowMs);
}

/** The party that failed, if any: the caller's options depend on it. */
export type FaultSide = 'none' | 'caller' | 'api' | 'unanswered';

export function faultOf({ answer }: KnownRequest): FaultSide {
  if (!answer || answer.status < CLIENT_ERROR) return 'none';
  if (answer.status < SERVER_ERROR) return answer.status === CLIENT_LEFT ? 'none' : 'caller';
  return answer.isFromApi === false ? 'unanswered' : 'api';
}

/** The API's name in a sentence. */
export function apiOf({ productTitle, product, products }: KnownRequest): string {
  return productTitle ?? product ?? products[0] ?? 'the API';
}

function whatHappened(request: KnownRequest, { status, isFromApi }: ReportedAnswer): string {
  const api = apiOf(request);
  if (status === CLIENT_LEFT) return 'the client left before the response was sent.';
  switch (faultOf(request)) {
    case 'unanswered':
      return status === GATEWAY_TIMEOUT ? `${api} did not answer in time.` : `${api} did not answer.`;
    case 'api':
      return `${api} failed.`;
    case 'caller':
      return isFromApi === false ? 'the gateway refused it.' : `${api} refused it.`;
    case 'none':
      return `${api} answered.`;
  }
}

function chargeSaid({ charge, units }: ExplainedAnswer): string {
  const many = units === null ? '' : `${units} ${units === 1 ? 'unit' : 'units'}`;
  switch (charge) {
    case 'none':
      return 'Nothing was charged.';
    case 'charged':
      return units === null || units === 1 ? 'Charged.' : `${many} charged.`;
    case 'given_back':
      return 'Given back.';
    case 'settled':
      return `${many} charged, as the API reported.`.trimStart();
    case 'unknown':
      return '';
  }
}

function storyOf(request: KnownRequest, subject: string, nowMs: number): string {
  const answer = answerOf(request, nowMs);
  const refusal = refusalIn(request.outcome);
  if (answer && refusal !== undefined) return `→ ${answer.status} ${codeShown(refusal)}. ${subject} was refused: ${titleOf(refusal)}.`;
  const would = denialOf(request.outcome);
  if (would !== undefined)
    return `→ ${apiOf(request)}. ${subject} was let through: its route does not enforce. It would have been refused: ${titleOf(would)}.`;
  if (!answer || !request.answer) {
    return isAwaited(request, nowMs)
      ? `→ no response reported yet. ${subject} was admitted.`
      : `→ no response reported. ${subject} was admitted; its gateway has not reported the response.`;
  }
  return `→ ${answer.status} in ${request.answer.milliseconds} ms. ${subject} was admitted; ${whatHappened(request, request.answer)}`;
}

/**
 * One line that says what the caller got, who made the request and what it cost.
 * @param subject of its sentences, `Your request` or `The request`
 */
export function summaryOf(request: KnownRequest, subject: string, nowMs: number): string {
  const { method, rawPath } = request;
  const line = method === undefined || rawPath === undefined || rawPath === '' ? 'Request' : `${method} ${rawPath}`;
  const answer = answerOf(request, nowMs);
  return [line, storyOf(request, subject, nowMs), answer ? chargeSaid(answer) : ''].filter((part) => part !== '').join(' ');
}
