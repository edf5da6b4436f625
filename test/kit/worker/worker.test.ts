import { ServiceError } from '../../../services/kit/errors';
import { createMetrics } from '../../../services/kit/metrics';
import { type WorkerCallOptions, type WorkerClient, type WorkerClientOptions } from '../../../services/kit/worker/worker-client';
import { type WorkerHandler, type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { type WorkerCall } from '../../../services/kit/worker/worker-call';
import { eventually } from '../../support/eventually';
import { contextFor } from '../context';
import { echoClient, type Methods, serveEcho } from './echo-worker';
import { createLog } from '../../../services/kit/log';
import { createWorkerMetrics } from '../../../services/kit/worker/worker-metrics';

const sayWho = ({ text }: { text: string }, { requestId, customerId, subscriptionId, mode }: WorkerCall) => ({
  saidText: text,
  caller: [requestId, customerId, subscriptionId, mode].join(' '),
});

const opened: { close(): unknown }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

async function worker(handlers: Record<string, WorkerHandler> = {}, maxMessageBytes?: number): Promise<WorkerServer> {
  const server = await serveEcho({ Say: sayWho, ...handlers }, maxMessageBytes === undefined ? {} : { maxMessageBytes });
  opened.push({ close: () => server.close(100) });
  return server;
}

function clientOf(servers: readonly { address: string }[], options: Partial<WorkerClientOptions> = {}): WorkerClient<Methods> {
  const client = echoClient(servers, options);
  opened.unshift(client);
  return client;
}

function callWith(signal = new AbortController().signal, options: Partial<WorkerCallOptions> = {}): WorkerCallOptions {
  return { context: { requestId: 'r-1', proof: contextFor('api-gst', { mode: 'live' }), signal }, deadlineMs: 30_000, ...options };
}

const failsWith = (problem: string, options: object = {}) => expect.objectContaining({ name: 'ServiceError', problem, ...options });
/** Resolves only when its call is cancelled. */
const untilCancelled = (call: WorkerCall) =>
  new Promise<never>((_resolve, reject) => call.signal.addEventListener('abort', () => reject(new Error('cancelled'))));

describe('calls to a worker', () => {
  it('tell it who calls, in which mode', async () => {
    const client = clientOf([await worker()]);
    expect(await client.unary('Say', { text: 'hé' }, callWith())).toEqual({ saidText: 'hé', caller: 'r-1 customer-1 subscription-1 live' });
  });

  it('stream up, more than any buffer holds', async () => {
    const client = clientOf([await worker()]);
    async function* chunks() {
      for (let index = 0; index < 64; index++) yield { chunk: Buffer.alloc(65_536) };
    }
    expect(await client.upload('Sum', chunks(), callWith())).toEqual({ total: 64 * 65_536 });
  });

  it('go round all addresses, or to the one that owns the session', async () => {
    const named = (name: string) => worker({ Say: () => ({ saidText: name, caller: '' }) });
    const [one, two] = [await named('one'), await named('two')];
    const client = clientOf([one, two]);
    const say = async (options = {}) => (await client.unary('Say', { text: '' }, callWith(undefined, options))).saidText;
    // Until both were heard of, turns may be taken by one alone.
    const heard = new Set<string>();
    await eventually(async () => heard.add(await say()).size === 2);
    expect([await say(), await say()].sort()).toEqual(['one', 'two']);
    expect([await say({ address: two.address }), await say({ address: two.address })]).toEqual(['two', 'two']);
    await expect(say({ address: '127.0.0.1:1' })).rejects.toEqual(failsWith('upstream_failed'));
  });

  it('an idempotent call finds another worker when one cannot be reached', async () => {
    const client = clientOf([{ address: '127.0.0.1:1' }, await worker()]);
    for (let index = 0; index < 4; index++) {
      expect(await client.unary('Say', { text: 'x' }, callWith(undefined, { idempotent: true }))).toMatchObject({ saidText: 'x' });
    }
  });

  it('a method without a handler does not start', async () => {
    await expect(serveEcho({}, { handlers: {} })).rejects.toThrow('no handler for Say');
  });
});

describe('failures of a worker', () => {
  it('a ServiceError arrives whole: problem, code, text and members', async () => {
    const failure = new ServiceError('upstream_failed', {
      detail: 'Falsch – nochmal.',
      code: 'captcha_rejected',
      members: { captcha: { sessionId: 's' } },
    });
    const handlers = { Say: () => Promise.reject(failure), Sum: () => Promise.reject(failure) };
    const client = clientOf([await worker(handlers)]);
    const expected = failsWith('upstream_failed', { options: expect.objectContaining(failure.options) });
    await expect(client.unary('Say', { text: '' }, callWith())).rejects.toEqual(expected);
    async function* endless() {
      for (;;) yield { chunk: Buffer.alloc(65_536) };
    }
    await expect(client.upload('Sum', endless(), callWith())).rejects.toEqual(expected);
  });

  it('an unknown error is processing_failed and keeps its text to itself', async () => {
    const throwing = (): never => {
      throw new Error('secret');
    };
    const client = clientOf([await worker({ Say: throwing })]);
    const error: unknown = await client.unary('Say', { text: '' }, callWith()).catch((each: unknown) => each);
    expect(error).toEqual(failsWith('processing_failed'));
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  it('a worker that is down is 502 and counted', async () => {
    const metrics = createMetrics();
    const client = clientOf([{ address: '127.0.0.1:1' }], { metrics });
    await expect(client.unary('Say', { text: '' }, callWith())).rejects.toEqual(failsWith('upstream_failed'));
    expect(await metrics.registry.metrics()).toContain('tollgate_upstream_duration_seconds_count{upstream="echo",outcome="failed"} 1');
  });

  it('a deadline is 504 and ends the work in the worker', async () => {
    let [begun, ended] = [0, 0];
    const Say = (_request: unknown, call: WorkerCall): Promise<never> => {
      begun++;
      return untilCancelled(call).finally(() => ended++);
    };
    const client = clientOf([await worker({ Say })]);
    // A call may be late before the worker hears of it.
    for (let deadlineMs = 100; begun === 0; deadlineMs *= 2)
      await expect(client.unary('Say', { text: '' }, callWith(undefined, { deadlineMs }))).rejects.toEqual(failsWith('upstream_timeout'));
    await eventually(() => ended === begun);
  });

  it('a handler knows how long the service will wait', async () => {
    const client = clientOf([await worker({ Say: (_request: unknown, call: WorkerCall) => ({ saidText: String(call.timeLeftMs()) }) })]);
    const { saidText } = await client.unary('Say', { text: '' }, callWith(undefined, { deadlineMs: 60_000 }));
    expect(Number(saidText)).toBeGreaterThan(31_000);
    expect(Number(saidText)).toBeLessThanOrEqual(60_000);
  });

  it('a client that leaves cancels the work in the worker', async () => {
    const leaving = new AbortController();
    let cancelled: () => void = () => undefined;
    const seen = new Promise<void>((resolve) => (cancelled = resolve));
    const handler = (_request: unknown, call: WorkerCall) => {
      leaving.abort(new Error('client left'));
      return untilCancelled(call).finally(cancelled);
    };
    const client = clientOf([await worker({ Say: handler })]);
    await expect(client.unary('Say', { text: '' }, callWith(leaving.signal))).rejects.toThrow('client left');
    await seen;
  });

  it('a message over the limit is refused and the worker lives on', async () => {
    const client = clientOf([await worker({}, 10_000)]);
    await expect(client.unary('Say', { text: 'x'.repeat(20_000) }, callWith())).rejects.toEqual(failsWith('upstream_failed'));
    expect(await client.unary('Say', { text: 'x' }, callWith())).toMatchObject({ saidText: 'x' });
  });
});

describe('health and drain', () => {
  it('health follows the worker, and one serving worker is enough', async () => {
    const server = await worker();
    const client = clientOf([server]);
    await client.checkHealth(30_000);
    server.setServing(false);
    await expect(client.checkHealth(30_000)).rejects.toEqual(failsWith('service_not_ready'));
    await expect(clientOf([{ address: '127.0.0.1:1' }]).checkHealth(200)).rejects.toEqual(failsWith('service_not_ready'));
    await clientOf([{ address: '127.0.0.1:1' }, await worker()]).checkHealth(30_000);
  });

  it('closing lets a running call finish', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    let entered: () => void = () => undefined;
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const server = await worker({
      Say: async () => {
        entered();
        await gate;
        return { saidText: 'done', caller: '' };
      },
    });
    const client = clientOf([server]);
    const answer = client.unary('Say', { text: '' }, callWith());
    await inside;
    const closed = server.close(30_000);
    release();
    expect(await answer).toMatchObject({ saidText: 'done' });
    client.close();
    await closed;
  });
});

describe('what a worker counts and logs', () => {
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
});
