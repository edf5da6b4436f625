import { OperationRefused, type RefusalCode } from '../../../../plugins/stores/postgres/operation-refused';
import { SubmissionRepeated } from '../../../../plugins/stores/postgres/idempotent-operation';
import { VersionConflict } from '../../../../plugins/stores/postgres/optimistic-lock';
import { answerFailure, ServiceError } from '../../../kit/errors';
import { Refusal } from './refusal';
import { describeKey } from '../keys/describe-key';
import { subscriptionFields } from '../plans/subscription-use';
import { describeWebhook } from '../webhooks/describe-webhook';
import { codeOf } from '../../../kit/error-code';

/** What is sent for an error, and whether somebody should look at it. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly unexpected: boolean;
}

type Kind = 'unknown' | 'conflict' | 'invalid';

/** Another customer's id and one that never was are both unknown. */
const KINDS: Readonly<Record<RefusalCode, Kind>> = {
  email_malformed: 'invalid',
  customer_exists: 'conflict',
  customer_unknown: 'unknown',
  product_missing: 'invalid',
  product_unknown: 'invalid',
  product_without_limits: 'invalid',
  plan_unknown: 'invalid',
  plan_differs: 'conflict',
  plan_changed: 'conflict',
  plan_current: 'conflict',
  plan_needs_no_approval: 'conflict',
  request_unknown: 'unknown',
  request_exists: 'conflict',
  request_closed: 'conflict',
  mode_unknown: 'invalid',
  limit_malformed: 'invalid',
  date_malformed: 'invalid',
  name_malformed: 'invalid',
  rule_malformed: 'invalid',
  tag_malformed: 'invalid',
  hash_malformed: 'invalid',
  reason_malformed: 'invalid',
  key_exists: 'conflict',
  key_unknown: 'unknown',
  key_not_usable: 'conflict',
  key_limit_reached: 'conflict',
  rule_limit_reached: 'conflict',
  subscription_exists: 'conflict',
  subscription_unknown: 'unknown',
  subscription_cancelled: 'conflict',
  subscription_needed: 'conflict',
  webhook_unknown: 'unknown',
  webhook_limit_reached: 'conflict',
  account_shared: 'conflict',
  member_leaving: 'conflict',
  member_unknown: 'unknown',
  member_exists: 'conflict',
  member_limit_reached: 'conflict',
  last_owner: 'conflict',
  owner_needed: 'conflict',
  invitation_unknown: 'unknown',
  invitation_exists: 'conflict',
  invitation_limit_reached: 'conflict',
  operator_exists: 'conflict',
  operator_unknown: 'unknown',
  email_taken: 'conflict',
  deletion_asked: 'conflict',
  delivery_unknown: 'unknown',
  token_unknown: 'unknown',
  token_limit_reached: 'conflict',
  way_unknown: 'unknown',
  last_way: 'conflict',
};

/** Operations speak to whoever uses the command line; these texts name its commands. */
const OWN_WORDS: Partial<Readonly<Record<RefusalCode, string>>> = {
  plan_differs: 'The subscription is on another plan. Change its plan under Plans first.',
  subscription_exists: 'There is a subscription to this product already.',
  subscription_cancelled: 'This subscription is cancelled. Subscribe to the product again instead.',
};

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`;
}

function refused({ code, message }: OperationRefused): Error {
  const detail = OWN_WORDS[code] ?? sentence(message);
  switch (KINDS[code]) {
    case 'unknown':
      return new ServiceError('not_found', { code, detail });
    case 'conflict':
      return new Refusal('conflict', { code, detail });
    case 'invalid':
      return new ServiceError('invalid_request', { code, detail });
  }
}

function conflict({ current }: VersionConflict): Refusal {
  return new Refusal('version_conflict', { members: { current: presentOf(current) } });
}

function presentOf(current: VersionConflict['current']): unknown {
  if ('key' in current) return describeKey(current.key);
  return 'webhook' in current ? describeWebhook(current.webhook) : subscriptionFields(current.subscription);
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
