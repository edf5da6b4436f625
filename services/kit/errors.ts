import { STATUS_CODES } from 'node:http';
import { type KeyMode } from '../../plugins/core/ports';
import { problemOf, statusOf, type Problem, type ProblemCode, type ReadOn } from '../../plugins/core/problems';
import { isRefunded, isRefusal } from '../../plugins/core/catalogue/refunds';
import { codeOf, nameOf } from './error-code';

/** One complaint about one input field; `message` reads as a sentence after the field's name and never repeats the value. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

export interface ServiceErrorOptions {
  /** Public text in place of the table's. Never a key, a personal number or an upstream's URL. */
  readonly detail?: string;
  /** A code finer than the table's, for example `captcha_rejected` under `upstream_failed`. */
  readonly code?: string;
  /** Further members of the body (`errors`, `reason`, `attempts_left`, …). */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Further headers of the response (`Allow`, `Retry-After`, `Content-Range`, …). */
  readonly headers?: Readonly<Record<string, string>>;
  /** What really happened; logged, never sent. */
  readonly cause?: unknown;
}

/** A failure with its own response. The table of problems gives the status and title. Throw it anywhere below a handler. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';

  constructor(
    readonly problem: ProblemCode,
    readonly options: ServiceErrorOptions = {},
  ) {
    super(options.code ?? problem, options.cause === undefined ? undefined : { cause: options.cause });
  }

  get status(): number {
    return statusOf(this.problem);
  }
}

/** Invalid input, as 400 `invalid_request` or 422 `validation_failed`. */
export function invalidInput(errors: readonly FieldError[], status: 400 | 422 = 400): ServiceError {
  const [first] = errors;
  const detail = first && errors.length === 1 ? `${first.field} ${first.message}.` : `${errors.length} fields are missing or invalid.`;
  return new ServiceError(status === 422 ? 'validation_failed' : 'invalid_request', { detail, members: { errors } });
}

/** The names of missing settings concern the platform engineer: they are logged and never sent to a caller. */
class SettingsMissing extends Error {
  override readonly name = 'SettingsMissing';
}

/** Public text by mode of the key. The text for live keys is the published one; `any` is for a missing worker. */
const NOT_CONFIGURED = { live: undefined, test: 'No sandbox is configured for test keys.', any: 'This product is not set up.' } as const;

/**
 * The 503 `upstream_not_configured` of every product.
 * @param settings names of settings, any one of which would do; for the log
 */
export function notConfigured(settings: readonly string[], mode: KeyMode | 'any'): ServiceError {
  const detail = NOT_CONFIGURED[mode];
  const cause = new SettingsMissing(`not set: ${settings.join(' or ')}`);
  return new ServiceError('upstream_not_configured', detail === undefined ? { cause } : { cause, detail });
}

const TIMEOUT_NAMES = new Set(['TimeoutError', 'HeadersTimeoutError', 'BodyTimeoutError', 'ConnectTimeoutError']);
const TIMEOUT_CODES = new Set([
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** True when an error reports a time-out of any kind. Looks through `cause` (fetch wraps its errors). */
export function isTimeout(error: unknown): boolean {
  for (let each = error, depth = 0; each !== undefined && depth < 4; depth++) {
    if (each instanceof ServiceError && each.problem === 'upstream_timeout') return true;
    if (TIMEOUT_NAMES.has(nameOf(each)) || TIMEOUT_CODES.has(codeOf(each))) return true;
    each = each instanceof Error ? each.cause : undefined;
  }
  return false;
}

/**
 * Turns the failure of an upstream into the service's failure, here and nowhere else: a time-out is 504, anything else 502. A {@link
 * ServiceError} passes through.
 * @param options added to the response; `reason` is a common member
 */
export function upstreamFailure(error: unknown, options: Omit<ServiceErrorOptions, 'cause'> = {}): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError(isTimeout(error) ? 'upstream_timeout' : 'upstream_failed', { ...options, cause: error });
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** What is sent for a failure, and whether somebody should look at it. */
export interface FailureAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Problem;
  /** True for an unexpected error: its cause belongs in the log at level error. */
  readonly unexpected: boolean;
  /** True when the caller does not pay for the request. */
  readonly isRefunded: boolean;
  /** True when the request was refused for its form, before any work. */
  readonly isRefusal: boolean;
}

/** Statuses that Fastify gives to requests it refuses by itself. */
const FRAMEWORK_PROBLEMS: Readonly<Record<number, ProblemCode>> = {
  400: 'invalid_request',
  404: 'route_unknown',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'media_type_unsupported',
};

/** `Retry-After` of refusals that pass by themselves: a running request ends within seconds. */
const USUAL_HEADERS: Readonly<Partial<Record<ProblemCode, Record<string, string>>>> = { concurrency_exceeded: { 'Retry-After': '1' } };

function frameworkProblem(error: unknown): ProblemCode | undefined {
  if (!codeOf(error).startsWith('FST_')) return undefined;
  const status: unknown = Reflect.get(error as object, 'statusCode');
  return typeof status === 'number' ? FRAMEWORK_PROBLEMS[status] : undefined;
}

/** Turns whatever was thrown into a response, once, at the boundary. Unknown errors become 500 `processing_failed` without their text. */
export function answerFailure(error: unknown, requestId: string, readOn?: ReadOn): FailureAnswer {
  if (error instanceof ServiceError) {
    const { detail, code, members } = error.options;
    const headers = { ...USUAL_HEADERS[error.problem], ...error.options.headers };
    const body = problemOf(error.problem, {
      requestId,
      readOn,
      // A request that bypassed the gateway has no record there.
      isRecorded: error.problem !== 'gateway_proof_missing',
      ...(detail !== undefined && { detail }),
      ...(code !== undefined && { code }),
      ...(members !== undefined && { members }),
    });
    const cause = { problem: error.problem, code, reason: members?.['reason'] };
    const unexpected = error.problem === 'processing_failed';
    return { status: body.status, headers, body, unexpected, isRefunded: isRefunded(cause), isRefusal: isRefusal(cause) };
  }
  const known = frameworkProblem(error);
  const problem = known ?? 'processing_failed';
  const body = problemOf(problem, { requestId, readOn });
  const charge = { isRefunded: isRefunded({ problem }), isRefusal: isRefusal({ problem }) };
  return { status: body.status, headers: {}, body, unexpected: known === undefined, ...charge };
}

/** A refusal as the bytes of an HTTP/1.1 response that ends its connection, for sockets on which Node offers no response object. */
export function rawAnswer({ status, body }: FailureAnswer): string {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}
