import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Attributes, type Span } from '@opentelemetry/api';
import { formatTraceparent, parseTraceparent } from '../../plugins/core/trace-context';
import { ServiceError } from './errors';

/** Does nothing until a process starts OpenTelemetry. */
const tracer = trace.getTracer('tollgate');

/** Attributes hold ids of ours, codes and configured names: never input, a URL, a header or an error's text. */
export interface SpanDescription {
  readonly name: string;
  readonly attributes?: Attributes;
}

/**
 * Begins this process's part of a trace.
 * @param traceparent of the caller, which must be one of ours: the plugin server or a service
 * @returns undefined when the caller records nothing, or tracing is off; end it otherwise
 */
export function continueTrace(traceparent: unknown, { name, attributes = {} }: SpanDescription): Span | undefined {
  const parent = parseTraceparent(traceparent);
  if (!parent?.isSampled) return undefined;
  const remote = trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, remote);
  return span.isRecording() ? span : undefined;
}

/** Runs work so that what it traces belongs to this span. */
export function within<T>(span: Span | undefined, work: () => T): T {
  return span ? context.with(trace.setSpan(ROOT_CONTEXT, span), work) : work();
}

/** For what this process asks of others within the current span; undefined outside of one. */
export function currentTraceparent(): string | undefined {
  const span = trace.getActiveSpan();
  if (!span?.isRecording()) return undefined;
  return formatTraceparent({ ...span.spanContext(), isSampled: true });
}

/** What kind of error it was; its text may hold anything. */
export function noteFailure(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', error instanceof ServiceError ? error.problem : error instanceof Error ? error.name : typeof error);
}

/** A span around work within the current one; outside of one just the work. */
export async function traced<T>({ name, attributes = {} }: SpanDescription, work: () => Promise<T>): Promise<T> {
  if (!trace.getActiveSpan()) return work();
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes });
  try {
    return await context.with(trace.setSpan(context.active(), span), work);
  } catch (error) {
    noteFailure(span, error);
    throw error;
  } finally {
    span.end();
  }
}
