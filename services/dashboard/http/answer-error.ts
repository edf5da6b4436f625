import { OperationRefused } from '../../selling/operations/operation-refused';
import { SubmissionRepeated } from '../../selling/operations/idempotent-operation';
import { VersionConflict } from '../../selling/operations/version';
import { answerFailure, ServiceError } from '../../kit/errors';
import { codeOf } from '../../kit/error-code';
import { hasOwnWords } from '../contract/refusals';
import { Refusal } from './refusal';

/** The response to an error, and whether somebody should look at it. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly unexpected: boolean;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`;
}

/** Operations are worded for the command line: some of their texts name commands. */
function refused({ code, message, members }: OperationRefused): Refusal {
  return new Refusal(code, hasOwnWords(code) ? { members } : { members, detail: sentence(message) });
}

/** A part of the path is longer than any id. Fastify's own status for that, 414, is about the whole URL. */
function isOverlong(error: unknown): boolean {
  return codeOf(error) === 'FST_ERR_MAX_PARAM_LENGTH';
}

/** Node's and PostgreSQL's codes for "not now": no connection, a server that starts or stops, no room, a time-out, a deadlock. */
const AWAY =
  /^(E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND|NOENT)|08...|53...|57P0.|57014|40001|40P01|55P03)$/;
/** pg's own errors have no code. */
const AWAY_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed)/;
const MAX_CAUSE = 4;

/** True for an error that means that PostgreSQL did not respond, and may respond to the same query soon. */
export function isDatabaseAway(error: unknown): boolean {
  for (let each = error, depth = 0; each instanceof Error && depth < MAX_CAUSE; depth++) {
    if (AWAY.test(codeOf(each)) || AWAY_TEXT.test(each.message)) return true;
    if (each instanceof AggregateError && each.errors.some((one) => isDatabaseAway(one))) return true;
    each = each.cause;
  }
  return false;
}

/** Paths that the file server refuses: with `../api`, a NUL or `//` in them, longer than a file name may be, or of a folder. */
function isRefusedPath(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return codeOf(error) === 'FST_STATIC_FORBIDDEN_PATH' || (error.name === 'ForbiddenError' && Reflect.get(error, 'statusCode') === 403);
}

/** The present response of the endpoint that shows the thing. The caller supplies it, because it differs by subject. */
export type ShowConflict = (conflict: VersionConflict) => unknown;

/** Maps known errors of stores and of Fastify to errors that have a response. */
function known(error: unknown, showConflict: ShowConflict): unknown {
  if (isOverlong(error) || isRefusedPath(error)) return new ServiceError('route_unknown');
  if (error instanceof OperationRefused) return refused(error);
  if (error instanceof VersionConflict) return new Refusal('version_conflict', { members: { current: showConflict(error) } });
  if (error instanceof SubmissionRepeated) return new Refusal('already_done', { members: { id: error.resultId } });
  if (isDatabaseAway(error)) return new ServiceError('service_not_ready', { headers: { 'Retry-After': '1' }, cause: error });
  return error;
}

/** Turns any error into a response, once, at the boundary. Unknown errors become 500 without their text. */
export function answerError(error: unknown, requestId: string, showConflict: ShowConflict): ErrorAnswer {
  const named = known(error, showConflict);
  if (!(named instanceof Refusal)) return answerFailure(named, requestId);
  return { status: named.status, headers: named.options.headers ?? {}, body: named.problem(requestId), unexpected: false };
}
