import { Client, credentials, type MethodDefinition } from '@grpc/grpc-js';
import { HEALTH_SERVICE } from '../../../services/kit/worker/load-proto';
import { type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { type WorkerClient } from '../../../services/kit/worker/worker-client';
import { eventually } from '../../support/eventually';
import { contextFor } from '../context';
import { echoClient, type Methods, serveEcho } from './echo-worker';

const worker = (name: string, port = 0): Promise<WorkerServer> => serveEcho({ Say: () => ({ saidText: name, caller: '' }) }, { port });

async function* upload(): AsyncGenerator<{ chunk: Buffer }> {
  for (let index = 0; index < 3; index++) {
    yield { chunk: Buffer.alloc(1_000) };
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a worker that is replaced while calls come in', () => {
  let one: WorkerServer;
  let two: WorkerServer;
  let client: WorkerClient<Methods>;
  const call = () => ({
    context: { requestId: 'r', proof: contextFor('api-app'), signal: new AbortController().signal },
    deadlineMs: 30_000,
  });
  const say = async (): Promise<string> => (await client.unary('Say', { text: '' }, call())).saidText;

  beforeEach(async () => {
    [one, two] = await Promise.all([worker('one'), worker('two')]);
    client = echoClient([one, two]);
  });
  afterEach(async () => {
    client.close();
    await Promise.all([one.close(100), two.close(100)]);
  });

  it('fails none of them, not even an upload, which nobody can repeat', async () => {
    let isOver = false;
    const totals: number[] = [];
    const load = async (): Promise<void> => {
      while (!isOver) totals.push((await client.upload('Sum', upload(), call())).total, (await say()).length && 3_000);
    };
    const loads = Promise.all([load(), load(), load()]);
    await eventually(() => totals.length > 20);
    const { port } = one;
    await one.close();
    const after = totals.length;
    await eventually(() => totals.length > after + 20);
    one = await worker('one, again', port);
    await eventually(async () => (await say()) === 'one, again');
    isOver = true;
    await loads;
    expect(new Set(totals)).toEqual(new Set([3_000]));
  });

  it('is passed over while it is away, and used again when it is back', async () => {
    await eventually(async () => (await say()) === 'one');
    await one.close();
    for (let index = 0; index < 6; index++) expect(await say()).toBe('two');
    one = await worker('one', one.port);
    await eventually(async () => (await say()) === 'one');
  });

  it('is waited for when the last one leaves as it comes back, also by an upload', async () => {
    await eventually(async () => (await say()) === 'one');
    const { port } = one;
    await one.close();
    await two.close();
    const total = client.upload('Sum', upload(), call());
    const text = say();
    one = await worker('one, again', port);
    expect([await total, await text]).toEqual([{ total: 3_000 }, 'one, again']);
  });

  it('takes what is sent before a watcher has heard of it, however long that takes', async () => {
    const watcher = new Client(one.address, credentials.createInsecure());
    const { path, requestSerialize, responseDeserialize } = HEALTH_SERVICE['Watch'] as MethodDefinition<object, object>;
    const watch = watcher.makeServerStreamRequest(path, requestSerialize, responseDeserialize, { service: '' });
    const statuses: unknown[] = [];
    watch.on('data', (report: object) => statuses.push(Reflect.get(report, 'status'))).on('error', () => undefined);
    try {
      await eventually(() => statuses.length === 1);
      const closed = one.close();
      await eventually(() => statuses.length === 2);
      await new Promise((resolve) => setTimeout(resolve, 700));
      const late = echoClient([one]);
      expect((await late.unary('Say', { text: '' }, call())).saidText).toBe('one');
      late.close();
      watch.cancel();
      await closed;
      expect(statuses).toEqual(['SERVING', 'NOT_SERVING']);
    } finally {
      watcher.close();
    }
  });

  it('does not wait before it ends when nobody watches it', async () => {
    const watching = echoClient([two]);
    try {
      await watching.unary('Say', { text: '' }, call());
      const watched = two.close().then(() => 'watched');
      const unwatched = one.close().then(() => 'unwatched');
      expect(await Promise.race([watched, unwatched])).toBe('unwatched');
      await watched;
    } finally {
      watching.close();
    }
  });
});
