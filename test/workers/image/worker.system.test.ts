import sharp from 'sharp';
import { loadWorkerService } from '../../../services/kit/worker/load-proto';
import { GrpcWorkerClient } from '../../../services/kit/worker/worker-client';
import { type RemoveBackgroundRequest } from '../../../services/workers/generated/image/image/v1/RemoveBackgroundRequest';
import { type RemoveBackgroundResponse__Output } from '../../../services/workers/generated/image/image/v1/RemoveBackgroundResponse';
import { contextFor } from '../../kit/context';
import { endProgram, startProgram } from '../../support/system/program';
import { disc } from './pictures';

type Methods = { RemoveBackground: { request: RemoveBackgroundRequest; response: RemoveBackgroundResponse__Output } };

it('a worker process cuts a live picture out with GrabCut, stops when the caller leaves or time is over, and serves the next', async () => {
  const { child, ready } = await startProgram('services/workers/image/main.js', { env: { LOG_LEVEL: 'silent', WORKER_PORT: '0' } });
  const service = loadWorkerService('image');
  const client = new GrpcWorkerClient<Methods>({ service, addresses: [`127.0.0.1:${Number(ready.port)}`], name: 'image' });
  const remove = (image: Buffer, signal = new AbortController().signal, deadlineMs = 55_000) => {
    const context = { requestId: 'r', proof: contextFor('api-image', { mode: 'live' }), signal };
    return client.unary('RemoveBackground', { image }, { context, deadlineMs });
  };
  try {
    const { image, width, height, engine } = await remove(await disc('jpeg'));
    expect([width, height, engine]).toEqual([96, 96, 'grabcut']);
    expect((await sharp(image).stats()).isOpaque).toBe(false);
    const large = await disc('jpeg', 1_500);
    const gone = new AbortController();
    setTimeout(() => gone.abort(new Error('left')), 50);
    await expect(remove(large, gone.signal)).rejects.toThrow('left');
    await expect(remove(large, undefined, 50)).rejects.toMatchObject({ problem: 'upstream_timeout' });
    expect(await remove(await disc())).toMatchObject({ engine: 'grabcut' });
  } finally {
    client.close();
    await endProgram(child);
  }
});
