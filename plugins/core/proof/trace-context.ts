import { randomBytes } from 'node:crypto';

/** A request's position in a distributed trace (W3C Trace Context, level 1). */
export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** The caller's span: 16 lower-case hex digits. */
  readonly spanId: string;
  /** Whether the caller records its part. */
  readonly isSampled: boolean;
}

export const TRACE_HEADER = 'traceparent';

/** Version, trace, parent, flags. A later version may continue after its flags, behind a dash. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]*)?$/;
const LONGEST = 256;
const SAMPLED = 1;

/** Reads a `traceparent`. Anything but one well-formed value counts as no context, because strangers send the header. */
export function parseTraceparent(value: unknown): TraceContext | undefined {
  if (typeof value !== 'string' || value.length > LONGEST) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = FORM.exec(value) ?? [];
  if (version === '' || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** A context that is not recorded. It replaces the one that a caller sent. */
export function unrecordedContext(): TraceContext {
  return { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex'), isSampled: false };
}
