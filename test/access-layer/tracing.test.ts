import { type DecisionTracer } from '../../plugins/core/ports';
import { call, key } from './call-plugin';

const theirs = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const ours = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';

const headers = { 'x-api-key': key, traceparent: theirs };

/** Writes down what it is told. */
function notingTracer(): DecisionTracer & { readonly notes: unknown[] } {
  const notes: unknown[] = [];
  return {
    notes,
    begin(given) {
      notes.push(given);
      return { traceparent: ours, addStep: (step) => notes.push(step), end: (decision) => notes.push(decision?.outcome) };
    },
  };
}

describe('a traced request', () => {
  it("tells the service our place in the trace instead of the caller's, in the write that carries the proof", async () => {
    const tracer = notingTracer();
    const { set, calls } = await call({ headers }, { deps: { tracer } });
    expect(set['traceparent']).toBe(ours);
    expect(calls.filter((name) => name === 'set_headers')).toHaveLength(1);
    expect(tracer.notes).toEqual([theirs, 'resolve_key', 'check_access', 'spend_quota', 'admitted']);
  });

  it('that is refused ends with the code and the steps that were reached', async () => {
    const tracer = notingTracer();
    const steps: string[] = [];
    const { exit } = await call({}, { deps: { tracer, onStep: (step) => steps.push(step) } });
    expect(exit?.status).toBe(401);
    expect(tracer.notes).toEqual([undefined, 'resolve_key', 'key_missing']);
    expect(steps).toEqual(['resolve_key']);
  });
});

it('without tracing the headers of the trace are left as they came', async () => {
  const { set, cleared } = await call({ headers });
  expect(set).not.toHaveProperty('traceparent');
  expect(cleared).not.toContain('traceparent');
});
