import { type Metadata } from '@grpc/grpc-js';
import { type Span } from '@opentelemetry/api';
import { ClientGone } from '../deadline';
import { ServiceError } from '../errors';
import { grpcStatusOf } from './grpc-status';
import { type Log } from '../log';
import { continueTrace, noteFailure, traceSignal } from '../tracing';
import { type CallOutcome, type WorkerMetrics } from './worker-metrics';
import { callerOf, traceparentOf, type WorkerCaller } from './worker-wire';

/** What a worker's handler knows about its call, besides the message. */
export interface WorkerCall extends WorkerCaller {
  /** Fires when the service cancels, loses its client or its deadline passes. */
  readonly signal: AbortSignal;
  /** Milliseconds until the service gives up on the call, as of now; infinite when it set no deadline. */
  timeLeftMs(): number;
  readonly log: Log;
}

/** A call of grpc-js, of any kind. */
export interface GrpcCall {
  readonly metadata: Metadata;
  readonly cancelled: boolean;
  getDeadline(): Date | number;
  on(event: 'cancelled', listener: () => void): unknown;
}

export interface CallTools {
  readonly worker: string;
  readonly log: Log;
  /** Log of one line for each call, whose members are known to be harmless. */
  readonly accessLog: Log;
  readonly metrics: WorkerMetrics;
}

/** One call from its arrival to its end: counted, traced, and logged in one line. End it exactly once. */
export class OpenCall {
  readonly call: WorkerCall;
  private readonly span: Span | undefined;
  private readonly startedAt = performance.now();
  private readonly counted: (outcome: CallOutcome) => void;

  constructor(
    incoming: GrpcCall,
    private readonly method: string,
    private readonly tools: CallTools,
  ) {
    const caller = callerOf(incoming.metadata);
    const { requestId, mode } = caller;
    const gone = new AbortController();
    const abort = (): void => gone.abort(new ClientGone());
    incoming.on('cancelled', abort);
    if (incoming.cancelled) abort();
    const deadlineAt = Number(incoming.getDeadline());
    const timeLeftMs = (): number => deadlineAt - Date.now();
    this.call = { ...caller, signal: gone.signal, timeLeftMs, log: tools.log.child({ requestId, mode }) };
    const attributes = { 'tollgate.request_id': requestId, 'tollgate.mode': mode };
    this.span = continueTrace(traceparentOf(incoming.metadata), { name: `worker ${tools.worker} ${method}`, attributes });
    traceSignal(gone.signal, this.span);
    this.counted = tools.metrics.callStarted(method);
  }

  succeed(): void {
    this.end(this.call.signal.aborted ? 'cancelled' : 'ok');
  }

  /** @returns the status to send to the service */
  fail(error: unknown): ReturnType<typeof grpcStatusOf> {
    const { call, method, span } = this;
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const status = error instanceof ServiceError ? error.status : 500;
    if (call.signal.aborted) call.log.debug({ method }, 'a call was cancelled');
    else if (!(error instanceof ServiceError)) call.log.error({ err: error, method }, 'a call could not be processed');
    else if (status >= 500) call.log.warn({ err: cause, method, code: error.message }, 'a call failed');
    if (span && status >= 500) noteFailure(span, error);
    this.end(call.signal.aborted ? 'cancelled' : error instanceof ServiceError ? error.problem : 'processing_failed');
    return grpcStatusOf(error);
  }

  private end(outcome: CallOutcome): void {
    const { call, method, span, startedAt } = this;
    this.counted(outcome);
    span?.setAttribute('tollgate.outcome', outcome);
    span?.end();
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
    const { requestId, customerId: customer, mode } = call;
    this.tools.accessLog.info({ requestId, traceId: span?.spanContext().traceId, method, outcome, durationMs, customer, mode });
  }
}
