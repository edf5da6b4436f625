import { type ChildProcess } from 'node:child_process';
import sharp from 'sharp';
import { loadWorkerService } from '../../../services/kit/worker/load-proto';
import { GrpcWorkerClient, type WorkerClient } from '../../../services/kit/worker/worker-client';
import { type RemoveBackgroundRequest } from '../../../services/workers/generated/image/image/v1/RemoveBackgroundRequest';
import { type RemoveBackgroundResponse__Output } from '../../../services/workers/generated/image/image/v1/RemoveBackgroundResponse';
import { contextFor } from '../../services/kit/harness';
import { endProgram, startProgram } from '../../support/system/program';
import { disc, plain } from './pictures';

type Methods = { RemoveBackground: { request: RemoveBackgroundRequest; response: RemoveBackgroundResponse__Output } };

describe('the worker process, with its default engine', () => {
  let client: WorkerClient<Methods>;
  let child: ChildProcess;

  beforeAll(async () => {
    const started = await startProgram('services/workers/image/main.js', { env: { LOG_LEVEL: 'silent', WORKER_PORT: '0' } });
    child = started.child;
    const service = loadWorkerService('image');
    const address = `127.0.0.1:${Number(started.ready.port)}`;
    client = new GrpcWorkerClient<Methods>({ service, addresses: [address], name: 'image', maxMessageBytes: 68 * 1_048_576 });
  });
  afterAll(async () => {
    client.close();
    await endProgram(child);
  });

  const remove = (image: Buffer, signal = new AbortController().signal, deadlineMs = 55_000) =>
    client.unary(
      'RemoveBackground',
      { image },
      { context: { requestId: 'r', proof: contextFor('api-image', { mode: 'live' }), signal }, deadlineMs },
    );

  test('cuts a live picture out with GrabCut', async () => {
    const { image, width, height, engine } = await remove(await disc('jpeg'));
    expect([width, height, engine]).toEqual([96, 96, 'grabcut']);
    expect((await sharp(image).stats()).isOpaque).toBe(false);
  });

  test('says no_foreground where there is none, and 413 to too many bytes', async () => {
    await expect(remove(await plain(80, 80))).rejects.toMatchObject({ problem: 'upstream_failed', options: { code: 'no_foreground' } });
    await expect(remove(Buffer.alloc(10_485_761))).rejects.toMatchObject({ problem: 'payload_too_large' });
  });

  test('stops when the caller leaves or time is over, and serves the next', async () => {
    const large = await disc('jpeg', 1_500);
    const gone = new AbortController();
    setTimeout(() => gone.abort(new Error('left')), 50);
    await expect(remove(large, gone.signal)).rejects.toThrow('left');
    await expect(remove(large, undefined, 50)).rejects.toMatchObject({ problem: 'upstream_timeout' });
    expect(await remove(await disc())).toMatchObject({ engine: 'grabcut' });
  });
});
