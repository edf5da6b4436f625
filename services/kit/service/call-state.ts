import { type Span } from '@opentelemetry/api';
import { type FastifyRequest } from 'fastify';
import { type RequestContext } from '../../../plugins/core/proof/context-token';
import { type Cancellation } from '../deadline';
import { type SettledCharge } from './refund';

/** What the kit keeps about one request between its hooks. */
export interface CallState {
  readonly requestId: string;
  /** Undefined when the request carries no valid proof: then it is refused. */
  readonly proof: RequestContext | undefined;
  /** Undefined unless this request is traced. */
  readonly span: Span | undefined;
  /** Monotonic time in milliseconds. */
  readonly startedAtMs: number;
  /** Fires when the client leaves or the deadline passes. */
  readonly cancel: Cancellation;
  clientLeft: boolean;
  /** True once the response is a failure that the caller does not pay for. */
  owesRefund: boolean;
  /** True once the request is refused for its form, before any work. */
  isRefused: boolean;
  /** Units that the work cost, as reported by the handler; undefined if it reported none. */
  cost: number | undefined;
  /** The result of giving units back; undefined until it is known. */
  settled: SettledCharge | undefined;
  recorded: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    tollgate: CallState | null;
  }
}

/** @throws Error when asked before the kit's first hook ran */
export function stateOf(request: FastifyRequest): CallState {
  if (!request.tollgate) throw new Error('the request has no call state yet');
  return request.tollgate;
}
