import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Context, type Span, type Tracer } from '@opentelemetry/api';
import { type Clock, type Decision, type DecisionStep, type DecisionTrace, type DecisionTracer } from '../core/ports';
import { formatTraceparent, parseTraceparent, unrecordedContext, type TraceContext } from '../core/proof/trace-context';

/**
 * Traces a second that callers can request with the sampled flag of their own context. Without a bound, a stranger could have every request
 * traced.
 */
const ASKED_PER_SECOND = 10;

const SPAN_NAMES: Readonly<Record<DecisionStep, string>> = {
  resolve_key: 'resolve key',
  check_access: 'check access',
  spend_quota: 'spend quota',
};

class RecordedDecision implements DecisionTrace {
  readonly traceparent: string;
  private readonly context: Context;

  constructor(
    private readonly tracer: Tracer,
    private readonly span: Span,
  ) {
    const { traceId, spanId } = span.spanContext();
    this.traceparent = formatTraceparent({ traceId, spanId, isSampled: true });
    this.context = trace.setSpan(ROOT_CONTEXT, span);
  }

  addStep(step: DecisionStep, startedAtMs: number, endedAtMs: number): void {
    this.tracer.startSpan(SPAN_NAMES[step], { startTime: startedAtMs }, this.context).end(endedAtMs);
  }

  end(decision: Decision | undefined): void {
    const { span } = this;
    if (decision) {
      const { requestId, outcome, product, products } = decision;
      span.setAttributes({
        'tollgate.request_id': requestId,
        'tollgate.outcome': outcome,
        'tollgate.product': product ?? products[0] ?? '',
        ...(decision.quota && { 'tollgate.quota_day': decision.quota.day }),
      });
    }
    if (!decision || decision.outcome === 'access_layer_unavailable') span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }
}

/** Nothing is recorded, but the service must not adopt the caller's own context. */
function unrecorded(context: TraceContext): DecisionTrace {
  const nothing = (): void => undefined;
  return { traceparent: formatTraceparent({ ...context, isSampled: false }), addStep: nothing, end: nothing };
}

/** Grants callers' traces, up to a number in each second. */
function createAllowance(clock: Pick<Clock, 'monotonic'>, perSecond: number): () => boolean {
  let secondEndsAt = 0;
  let left = 0;
  return () => {
    const now = clock.monotonic();
    if (now >= secondEndsAt) {
      secondEndsAt = now + 1_000;
      left = perSecond;
    }
    return left-- > 0;
  };
}

export interface DecisionTracerOptions {
  /** Share of requests without their own context that are traced, from 0 to 1. */
  readonly ratio: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Replaces Math.random, in tests. */
  readonly random?: () => number;
  readonly tracer?: Tracer;
}

/**
 * Decides which requests are traced, and records their decisions. It continues a caller's context and records when the context asks for it,
 * within {@link ASKED_PER_SECOND}. Spans hold our ids and codes, and nothing that a caller sent.
 */
export function createDecisionTracer({ ratio, clock, random = Math.random, ...options }: DecisionTracerOptions): DecisionTracer {
  const tracer = options.tracer ?? trace.getTracer('tollgate');
  const isGranted = createAllowance(clock, ASKED_PER_SECOND);
  const record = (startedAtMs: number, parent: TraceContext | undefined): DecisionTrace => {
    const remote = parent && { ...parent, traceFlags: TraceFlags.SAMPLED, isRemote: true };
    const context = remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
    const options = { kind: SpanKind.SERVER, startTime: startedAtMs };
    return new RecordedDecision(tracer, tracer.startSpan('access decision', options, context));
  };
  return {
    begin(given, startedAtMs) {
      if (given === undefined) return random() < ratio ? record(startedAtMs, undefined) : undefined;
      const parent = parseTraceparent(given);
      if (!parent) return random() < ratio ? record(startedAtMs, undefined) : unrecorded(unrecordedContext());
      return parent.isSampled && isGranted() ? record(startedAtMs, parent) : unrecorded(parent);
    },
  };
}
