import { listProblems, type ProblemCode, statusOf } from '../../plugins/core/problems';
import { isRefunded } from '../../plugins/core/catalogue/refunds';
import { FINER_CODES, type FinerCode } from '../kit/finer-codes';
import { REMEDIES } from './remedies';

/** What becomes of the unit of a request that ends with this code: none was taken, it is given back, or it stays charged. */
type Charge = 'not taken' | 'given back' | 'charged';

/** A code under one status. */
export interface DocumentedFailure {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly charge: Charge;
}

/** The codes of the access check, which refuses before a unit is taken. An inactive key reads as an unknown one. */
export const ACCESS_DENIALS = [
  'key_missing', 'ambiguous_key', 'key_unknown', 'key_expired', 'product_not_authorised', 'subscription_missing', 'subscription_inactive',
  'caller_not_whitelisted', 'sandbox_missing', 'link_not_valid', 'quota_daily_exceeded', 'quota_monthly_exceeded', 'rate_exceeded',
  'request_not_readable', 'ambiguous_path', 'access_layer_unavailable', 'quota_unavailable',
] as const satisfies readonly ProblemCode[]; // prettier-ignore

/** The same for a product without links. No seller's own API has links. */
export const DENIALS_WITHOUT_LINKS: readonly ProblemCode[] = ACCESS_DENIALS.filter((code) => code !== 'link_not_valid');

const BEFORE_CHARGE: ReadonlySet<ProblemCode> = new Set(ACCESS_DENIALS);

const chargeOf = (problem: ProblemCode, code?: string): Charge => (isRefunded({ problem, code }) ? 'given back' : 'charged');

const TITLES = new Map<ProblemCode, string>(listProblems().map(({ code, title }) => [code, title]));

/** A code of the table of problems. */
export function failureOf(code: ProblemCode): DocumentedFailure {
  const charge = BEFORE_CHARGE.has(code) ? 'not taken' : chargeOf(code);
  return { status: statusOf(code), code, title: TITLES.get(code) ?? '', charge };
}

/** A finer code, as callers see it. */
function finerFailureOf(name: FinerCode): DocumentedFailure {
  const [problem, title, code = name]: readonly [ProblemCode, string, string?] = FINER_CODES[name];
  return { status: statusOf(problem), code, title, charge: chargeOf(problem, code) };
}

const isFiner = (code: ProblemCode | FinerCode): code is FinerCode => Object.hasOwn(FINER_CODES, code);

/** A code of either table, as callers see it. */
export const ownFailureOf = (code: ProblemCode | FinerCode): DocumentedFailure => (isFiner(code) ? finerFailureOf(code) : failureOf(code));

const gatewayFailure = (status: number, title: string, charge: Charge): DocumentedFailure => ({
  status,
  code: 'gateway_error',
  title,
  charge,
});

/**
 * The gateway's own failures on a product's path, under one code: a head or body that is too large or is not HTTP, or an access check or
 * a service that is away.
 */
export const GATEWAY_FAILURES: readonly DocumentedFailure[] = [
  gatewayFailure(400, 'The request is not HTTP', 'not taken'),
  gatewayFailure(413, 'Body over 210 MiB', 'not taken'),
  gatewayFailure(414, 'Request line over 8,192 bytes', 'not taken'),
  gatewayFailure(500, 'Access check unavailable: the request went no further', 'not taken'),
  gatewayFailure(502, 'The API did not respond', 'given back'),
  gatewayFailure(503, 'The API is unavailable', 'given back'),
  gatewayFailure(504, 'The API timed out', 'given back'),
];

/** At a path without a product, so no operation can declare it. */
const NO_PRODUCT = gatewayFailure(404, 'No product at this path', 'not taken');

/** A code with all the failures that it stands for. */
export interface ErrorCode {
  readonly code: string;
  /** True for codes that only some products send. */
  readonly isOwn: boolean;
  readonly failures: readonly Omit<DocumentedFailure, 'code'>[];
  /** What a caller can do about it. */
  readonly remedy: string;
}

/**
 * Every code that callers can see behind the gateway, beginning with those of the access check. The page of errors and the OpenAPI document
 * are made from this list.
 */
export function listErrors(): readonly ErrorCode[] {
  const table = listProblems().flatMap(({ code }) => (code === 'key_inactive' ? [] : [failureOf(code)]));
  const finer = (Object.keys(FINER_CODES) as FinerCode[]).map(finerFailureOf);
  const all = [...table, ...finer, NO_PRODUCT, ...GATEWAY_FAILURES];
  return [...new Set(all.map(({ code }) => code))].map((code) => ({
    code,
    isOwn: !table.some((each) => each.code === code) && code !== NO_PRODUCT.code,
    failures: all.filter((each) => each.code === code).map(({ status, title, charge }) => ({ status, title, charge })),
    remedy: REMEDIES[code] ?? '',
  }));
}
