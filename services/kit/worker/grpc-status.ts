import { Metadata, status, type ServiceError as GrpcError, type StatusObject } from '@grpc/grpc-js';
import { z } from 'zod';
import { listProblems, type ProblemCode } from '../../../plugins/core/problems';
import { ServiceError, type ServiceErrorOptions } from '../errors';

/**
 * Carries a worker's failure in full, so that the response reads as if the service had thrown it. Binary, because details may not be ASCII.
 */
const PROBLEM_KEY = 'tollgate-problem-bin';

const codes = new Set<string>(listProblems().map(({ code }) => code));
const wireProblem = z.object({
  problem: z.custom<ProblemCode>((value) => typeof value === 'string' && codes.has(value)),
  detail: z.string().optional(),
  code: z.string().optional(),
  members: z.record(z.string(), z.unknown()).optional(),
});

/** The gRPC status of a problem, for tools that look at a worker from outside. Our own client reads the problem. */
function statusFor(problem: ProblemCode): status {
  switch (problem) {
    case 'invalid_request':
    case 'validation_failed':
      return status.INVALID_ARGUMENT;
    case 'not_found':
      return status.NOT_FOUND;
    case 'upstream_timeout':
      return status.DEADLINE_EXCEEDED;
    case 'payload_too_large':
    case 'concurrency_exceeded':
      return status.RESOURCE_EXHAUSTED;
    case 'upstream_failed':
      return status.ABORTED;
    case 'service_not_ready':
    case 'upstream_not_configured':
      return status.UNAVAILABLE;
    default:
      return status.INTERNAL;
  }
}

/** The status a worker ends a call with. Anything but a {@link ServiceError} becomes `processing_failed` without its text. */
export function grpcStatusOf(error: unknown): Partial<StatusObject> {
  const known = error instanceof ServiceError ? error : new ServiceError('processing_failed');
  const { detail, code, members } = known.options;
  const metadata = new Metadata();
  metadata.set(PROBLEM_KEY, Buffer.from(JSON.stringify({ problem: known.problem, detail, code, members })));
  return { code: statusFor(known.problem), details: known.problem, metadata };
}

function problemIn(error: GrpcError, cause: unknown): ServiceError | undefined {
  const [bytes] = (error.metadata as Metadata | undefined)?.get(PROBLEM_KEY) ?? [];
  if (!Buffer.isBuffer(bytes)) return undefined;
  try {
    const { problem, detail, code, members } = wireProblem.parse(JSON.parse(bytes.toString('utf8')));
    const options: ServiceErrorOptions = {
      cause,
      ...(detail !== undefined && { detail }),
      ...(code !== undefined && { code }),
      ...(members !== undefined && { members }),
    };
    return new ServiceError(problem, options);
  } catch {
    return undefined;
  }
}

function isGrpcError(error: unknown): error is GrpcError {
  return error instanceof Error && typeof Reflect.get(error, 'code') === 'number';
}

/** True when the call may not have reached a worker at all, so that another address is worth trying. */
export function isUnreachable(error: unknown): boolean {
  return isGrpcError(error) && error.code === status.UNAVAILABLE && problemIn(error, error) === undefined;
}

/**
 * Turns a failed call to a worker into the service's own failure. It is the worker's problem if there is one; else a time-out is 504, an
 * invalid argument 400, not found 404, and anything else 502.
 */
export function workerFailure(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (!isGrpcError(error)) return new ServiceError('upstream_failed', { cause: error });
  const said = problemIn(error, error);
  if (said) return said;
  switch (error.code) {
    case status.DEADLINE_EXCEEDED:
      return new ServiceError('upstream_timeout', { cause: error });
    case status.INVALID_ARGUMENT:
    case status.OUT_OF_RANGE:
      return new ServiceError('invalid_request', { cause: error });
    case status.NOT_FOUND:
      return new ServiceError('not_found', { cause: error });
    default:
      return new ServiceError('upstream_failed', { cause: error });
  }
}
