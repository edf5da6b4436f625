import { ServiceError } from '../../../services/kit/errors';
import { createLog } from '../../../services/kit/log';
import { type WorkerHandler } from '../../../services/kit/worker/serve-worker';
import { type WorkerCallOptions } from '../../../services/kit/worker/worker-client';
import { createWorkerMetrics } from '../../../services/kit/worker/worker-metrics';
import { eventually } from '../../support/eventually';
import { contextFor } from '../harness';
import { echoClient, serveEcho } from './echo-worker';

const opened: { close(): unknown }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

/** One call of a worker whose only method does this, with what it counted and logged. */
async function callOnce(Say: WorkerHandler, signal = new AbortController().signal) {
  const lines: string[] = [];
  const metrics = createWorkerMetrics('echo');
  const log = createLog('echo-worker', { destination: { write: (line) => void lines.push(line) } });
  const server = await serveEcho({ Say }, { log, metrics });
  const client = echoClient([server]);
  opened.push(client, { close: () => server.close(100) });
  const call: WorkerCallOptions = {
    context: { requestId: 'r-1', proof: contextFor('api-gst', { mode: 'test' }), signal },
    deadlineMs: 30_000,
  };
  const outcome = await client.unary('Say', { text: 'secret words' }, call).catch((error: unknown) => error);
  await eventually(async () => (await metrics.registry.metrics()).includes('tollgate_worker_calls_running{worker="echo"} 0'));
  const access = lines.map((line) => JSON.parse(line) as Record<string, unknown>).find((line) => 'outcome' in line);
  return { outcome, access, text: await metrics.registry.metrics(), log: lines.join('') };
}

describe('a call of a worker', () => {
  it('is counted and timed, and told in one line with the request id and nothing of its content', async () => {
    const { access, text, log } = await callOnce(() => ({ saidText: 'x', caller: '' }));
    expect(text).toContain('tollgate_worker_calls_total{worker="echo",method="Say",outcome="ok"} 1');
    expect(text).toContain('tollgate_worker_call_duration_seconds_count{worker="echo",method="Say"} 1');
    expect(access).toMatchObject({ service: 'echo-worker', requestId: 'r-1', method: 'Say', outcome: 'ok', mode: 'test' });
    expect(log).not.toContain('secret words');
  });

  it.each<[string, WorkerHandler, string]>([
    ['refuses', () => Promise.reject(new ServiceError('invalid_request', { code: 'captcha_rejected' })), 'invalid_request'],
    ['is full', () => Promise.reject(new ServiceError('service_not_ready')), 'service_not_ready'],
    ['breaks', () => Promise.reject(new Error('secret reason')), 'processing_failed'],
  ])('of a worker that %s is counted under the code of the table', async (_, handler, outcome) => {
    const { text, access } = await callOnce(handler);
    expect(text).toContain(`tollgate_worker_calls_total{worker="echo",method="Say",outcome="${outcome}"} 1`);
    expect(access).toMatchObject({ outcome, requestId: 'r-1' });
  });

  it('that the service cancels is counted as cancelled', async () => {
    const leaving = new AbortController();
    const handler: WorkerHandler = (_request, call) => {
      leaving.abort(new Error('client left'));
      return new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(new Error('cancelled'))));
    };
    const { text } = await callOnce(handler, leaving.signal);
    expect(text).toContain('outcome="cancelled"} 1');
  });
});

it('pools and sessions are asked when somebody looks', async () => {
  const metrics = createWorkerMetrics('echo');
  let waiting = 3;
  metrics.watchPool('threads', () => ({ waiting, busy: 2, size: 2 }));
  metrics.watchSessions('gst', () => 7);
  waiting = 4;
  const lines = (await metrics.registry.metrics()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'tollgate_worker_queue_waiting{worker="echo",pool="threads"} 4',
      'tollgate_worker_pool_busy{worker="echo",pool="threads"} 2',
      'tollgate_worker_pool_size{worker="echo",pool="threads"} 2',
      'tollgate_worker_sessions_open{worker="echo",product="gst"} 7',
    ]),
  );
});
