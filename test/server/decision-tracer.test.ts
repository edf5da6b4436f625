import { tracing } from '@opentelemetry/sdk-node';
import { type Decision } from '../../plugins/core/ports';
import { parseTraceparent } from '../../plugins/core/proof/trace-context';
import { createDecisionTracer } from '../../plugins/server/decision-tracer';
import { someDecision } from '../support/some-decision';

const exporter = new tracing.InMemorySpanExporter();
const provider = new tracing.BasicTracerProvider({ spanProcessors: [new tracing.SimpleSpanProcessor(exporter)] });
const traceId = '0af7651916cd43dd8448eb211c80319c';
const callers = (flags: string): string => `00-${traceId}-b7ad6b7169203331-${flags}`;

let now = 0;
const tracerWith = (ratio: number, random = () => 0.5) =>
  createDecisionTracer({ ratio, random, clock: { monotonic: () => now }, tracer: provider.getTracer('test') });

const decision = (outcome: Decision['outcome']): Decision =>
  someDecision({
    outcome,
    keyPlace: 'query',
    maskedKey: 'tg_live_…abcd',
    credentialId: 'k',
    customerId: 'c',
    subscriptionId: 's',
    product: 'api-ip',
    callerAddress: '203.0.113.9',
    originHost: 'example.com',
  });

beforeEach(() => {
  exporter.reset();
  now = 0;
});
afterAll(() => provider.shutdown());

describe('requests without a context of their own', () => {
  it('are traced at the ratio and otherwise left alone', () => {
    expect(tracerWith(0.4).begin(undefined, 0)).toBeUndefined();
    expect(parseTraceparent(tracerWith(0.6).begin(undefined, 0)?.traceparent)).toMatchObject({ isSampled: true });
  });

  it('are told with their steps and codes, and nothing that the caller sent', () => {
    const trace = tracerWith(1).begin(undefined, 1);
    trace?.addStep('resolve_key', 1, 2);
    trace?.addStep('spend_quota', 2, 5);
    trace?.end(decision('quota_daily_exceeded'));
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name }) => name)).toEqual(['resolve key', 'spend quota', 'access decision']);
    const root = spans[2];
    expect(spans.slice(0, 2).map((span) => span.parentSpanContext?.spanId)).toEqual(Array(2).fill(root?.spanContext().spanId));
    expect(root?.attributes).toEqual({
      'tollgate.request_id': 'r-1',
      'tollgate.outcome': 'quota_daily_exceeded',
      'tollgate.product': 'api-ip',
    });
  });
});

describe('a context of the caller', () => {
  it('is continued when it is sampled, whatever the ratio', () => {
    const trace = tracerWith(0).begin(callers('01'), 0);
    trace?.end(decision('admitted'));
    expect(parseTraceparent(trace?.traceparent)).toMatchObject({ traceId, isSampled: true });
    expect(exporter.getFinishedSpans()[0]?.parentSpanContext).toMatchObject({ traceId, spanId: 'b7ad6b7169203331' });
  });

  it('that is not sampled is handed on unrecorded', () => {
    const trace = tracerWith(1).begin(callers('00'), 0);
    trace?.end(decision('admitted'));
    expect(trace?.traceparent).toBe(callers('00'));
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  it('is granted ten times a second, so that a stranger cannot have everything traced', () => {
    const tracer = tracerWith(1);
    const sampled = (): number =>
      Array.from({ length: 50 }, () => tracer.begin(callers('01'), 0)).filter((trace) => trace?.traceparent.endsWith('-01')).length;
    expect(sampled()).toBe(10);
    now = 1_000;
    expect(sampled()).toBe(10);
  });

  it.each([['nonsense'], [[callers('01'), callers('01')]]])('that is malformed is replaced: %p', (given) => {
    const replaced = tracerWith(0).begin(given, 0)?.traceparent;
    expect(parseTraceparent(replaced)).toMatchObject({ isSampled: false });
    expect(replaced).not.toContain(traceId);
  });
});
