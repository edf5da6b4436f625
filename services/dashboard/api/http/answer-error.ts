import { OperationRefused } from '../../../../plugins/stores/postgres/operation-refused';
import { SubmissionRepeated } from '../../../../plugins/stores/postgres/idempotent-operation';
import { VersionConflict } from '../../../../plugins/stores/postgres/optimistic-lock';
import { answerFailure, ServiceError } from '../../../kit/errors';
import { codeOf } from '../../../kit/error-code';
import { webhook } from '../../contract/alerts';
import { key } from '../../contract/keys';
import { subscription } from '../../contract/plans';
import { hasOwnWords } from '../../contract/refusals';
import { toKey } from '../keys/key-handlers';
import { subscriptionFields } from '../plans/subscription-use';
import { toWebhook } from '../webhooks/webhook-handlers';
import { Refusal } from './refusal';
import { shapeAnswer } from './shape-answer';

/** What is sent for an error, and whether somebody should look at it. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly unexpected: boolean;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`;
}

/** Operations speak to the command line's users: some texts name its commands. */
function refused({ code, message, members }: OperationRefused): Refusal {
  return new Refusal(code, hasOwnWords(code) ? { members } : { members, detail: sentence(message) });
}

function conflict({ current }: VersionConflict): Refusal {
  return new Refusal('version_conflict', { members: { current: presentOf(current) } });
}

/** As the endpoints that show it answer. */
function presentOf(current: VersionConflict['current']): unknown {
  if ('key' in current) return shapeAnswer(key, toKey(current.key));
  if ('webhook' in current) return shapeAnswer(webhook, toWebhook(current.webhook));
  return shapeAnswer(
    subscription.omit({ daily: true, monthly: true, refunds: true, test: true }),
    subscriptionFields(current.subscription),
  );
}

/** A part of the path that is longer than any id: Fastify's own status for it, 414, is about the whole address. */
function isOverlong(error: unknown): boolean {
  return codeOf(error) === 'FST_ERR_MAX_PARAM_LENGTH';
}

/** Node's and PostgreSQL's codes for "not now": no connection, a server that starts or stops, no room, a time-out, a deadlock. */
const AWAY =
  /^(E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND|NOENT)|08...|53...|57P0.|57014|40001|40P01|55P03)$/;
/** pg's own errors have no code. */
const AWAY_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed)/;
const DEEPEST_CAUSE = 4;

/** True for an error that says that PostgreSQL did not answer, and may answer the same question soon. */
export function isDatabaseAway(error: unknown): boolean {
  for (let each = error, depth = 0; each instanceof Error && depth < DEEPEST_CAUSE; depth++) {
    if (AWAY.test(codeOf(each)) || AWAY_TEXT.test(each.message)) return true;
    if (each instanceof AggregateError && each.errors.some((one) => isDatabaseAway(one))) return true;
    each = each.cause;
  }
  return false;
}

/** Paths that serving files refuses: with `..`, a NUL or `//` in them, longer than a file name may be, or of a folder. */
function isRefusedPath(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return codeOf(error) === 'FST_STATIC_FORBIDDEN_PATH' || (error.name === 'ForbiddenError' && Reflect.get(error, 'statusCode') === 403);
}

/** Errors of stores and of Fastify as those that have an answer. */
function known(error: unknown): unknown {
  if (isOverlong(error) || isRefusedPath(error)) return new ServiceError('route_unknown');
  if (error instanceof OperationRefused) return refused(error);
  if (error instanceof VersionConflict) return conflict(error);
  if (error instanceof SubmissionRepeated) return new Refusal('already_done', { members: { id: error.resultId } });
  if (isDatabaseAway(error)) return new ServiceError('service_not_ready', { headers: { 'Retry-After': '1' }, cause: error });
  return error;
}

/** Turns whatever was thrown into an answer, once, at the boundary. Unknown errors become 500 without their text. */
export function answerError(error: unknown, requestId: string): ErrorAnswer {
  const named = known(error);
  if (!(named instanceof Refusal)) return answerFailure(named, requestId);
  return { status: named.status, headers: named.options.headers ?? {}, body: named.problem(requestId), unexpected: false };
}
