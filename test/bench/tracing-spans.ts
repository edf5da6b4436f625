import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { type DecisionTracer } from '../../plugins/core/ports';
import { createDecisionTracer } from '../../plugins/server/decision-tracer';
import { startTracing } from '../../plugins/tracing/start-tracing';
import { continueTrace } from '../../services/kit/tracing';
import { start, stopAll } from './support/load';
import { someDecision } from '../support/some-decision';

// What tracing adds to a request: CPU time of the spans of one decision and one service, made, packed and sent to a collector, by ratio.
// All in one process and per request, so that neighbours on the machine blur it less than they blur test/bench/tracing.
// Run: npm run build && node dist/test/bench/tracing-spans.js

/** Sent every five seconds: what is left over is waited for. */
const FLUSH_MS = 5_500;
/** No more between two pauses than the queue of spans holds, or some would be dropped and cost nothing. */
const BURST = 300;
const PAUSE_MS = 30;

const decision = someDecision({ requestId: '8f48a94bacc2c78dd3ccdae41d3f66bc', product: 'api-ip' });

function traceOne(tracer: DecisionTracer): void {
  const now = performance.now();
  const trace = tracer.begin(undefined, now);
  if (!trace) return;
  trace.addStep('resolve_key', now, now + 0.1);
  trace.addStep('check_access', now + 0.1, now + 0.2);
  trace.addStep('spend_quota', now + 0.2, now + 0.4);
  trace.end(decision);
  const attributes = { 'tollgate.service': 'ip', 'tollgate.request_id': decision.requestId };
  const span = continueTrace(trace.traceparent, { name: 'service ip', attributes });
  span?.setAttributes({ 'http.route': '/ip', 'http.response.status_code': 200 });
  span?.end();
}

/** Microseconds of CPU a request, of all threads of this process. */
async function costOf(ratio: number, requests: number): Promise<number> {
  const tracer = createDecisionTracer({ ratio, clock: { monotonic: () => performance.now() } });
  const before = process.cpuUsage();
  for (let index = 1; index <= requests; index++) {
    traceOne(tracer);
    if (index % 20 === 0) await setImmediate();
    if (ratio > 0 && index % Math.round(BURST / ratio) === 0) await sleep(PAUSE_MS);
  }
  await sleep(FLUSH_MS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

async function main(): Promise<void> {
  const collector = await start('test/bench/support/stub-collector.js');
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${collector.line}`;
  const tracing = await startTracing({ serviceName: 'bench', env: process.env, log: console });
  await costOf(1, 5_000);
  for (const ratio of [0, 0.01, 0.05, 1]) {
    const cost = await costOf(ratio, ratio === 1 ? 20_000 : 400_000);
    console.log(`ratio ${String(ratio).padEnd(5)} ${cost.toFixed(1)} µs of CPU a request`);
  }
  await tracing?.stop();
}

main()
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(() => stopAll());
