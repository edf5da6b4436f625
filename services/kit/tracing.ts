import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Attributes, type Span } from '@opentelemetry/api';
import { formatTraceparent, parseTraceparent } from '../../plugins/core/proof/trace-context';
import { ServiceError } from './errors';

/** Has no effect until a process starts OpenTelemetry. */
const tracer = trace.getTracer('tollgate');

/**
 * The span of each traced call, by the call's signal. Everything that waits for a call has its signal, so nothing else must be passed on.
 * AsyncLocalStorage would find the span too, but on Node.js 20 it costs a quarter of a small request, traced or not.
 */
const spans = new WeakMap<AbortSignal, Span>();

/** Attributes hold only internal ids, codes and configured names: never input, a URL, a header or an error's text. */
export interface SpanDescription {
  readonly name: string;
  readonly attributes?: Attributes;
}

/**
 * Begins this process's part of a trace. End the span when the work is over.
 * @param traceparent of the caller, which must be Tollgate's plugin server or a service
 * @returns undefined when the caller records nothing, or tracing is off
 */
export function continueTrace(traceparent: unknown, { name, attributes = {} }: SpanDescription): Span | undefined {
  const parent = parseTraceparent(traceparent);
  if (!parent?.isSampled) return undefined;
  const remote = trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, remote);
  return span.isRecording() ? span : undefined;
}

/** Makes work for the call of this signal belong to this span. */
export function traceSignal(signal: AbortSignal, span: Span | undefined): void {
  if (span) spans.set(signal, span);
}

/** A signal that fires with the first of several signals. It belongs to the trace of the first one that has a trace. */
export function anySignal(...signals: readonly AbortSignal[]): AbortSignal {
  const any = AbortSignal.any([...signals]);
  traceSignal(
    any,
    signals.map((signal) => spans.get(signal)).find((span) => span !== undefined),
  );
  return any;
}

/** Records the kind of an error. Its text may hold anything, so it is left out. */
export function noteFailure(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', error instanceof ServiceError ? error.problem : error instanceof Error ? error.name : typeof error);
}

/**
 * Runs work for a call in a span. If the call is not traced, only the work runs.
 * @param work is given the `traceparent` to pass on
 */
export async function traced<T>(
  signal: AbortSignal,
  { name, attributes = {} }: SpanDescription,
  work: (traceparent: string | undefined) => Promise<T>,
): Promise<T> {
  const parent = spans.get(signal);
  if (!parent) return work(undefined);
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, trace.setSpan(ROOT_CONTEXT, parent));
  try {
    return await work(formatTraceparent({ ...span.spanContext(), isSampled: true }));
  } catch (error) {
    noteFailure(span, error);
    throw error;
  } finally {
    span.end();
  }
}
