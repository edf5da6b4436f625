import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import sharp from 'sharp';
import { loadWorkerService } from '../../../services/kit/worker/load-proto';
import { GrpcWorkerClient, type WorkerClient } from '../../../services/kit/worker/worker-client';
import { type RemoveBackgroundRequest } from '../../../services/workers/generated/image/image/v1/RemoveBackgroundRequest';
import { type RemoveBackgroundResponse__Output } from '../../../services/workers/generated/image/image/v1/RemoveBackgroundResponse';
import { contextFor } from '../../services/kit/harness';
import { disc, plain } from './pictures';

const ROOT = join(__dirname, '../../..');
type Methods = { RemoveBackground: { request: RemoveBackgroundRequest; response: RemoveBackgroundResponse__Output } };

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'image-worker-test-'))));
afterAll(() => rm(folder, { recursive: true }));

/** Compiled file by file as for production, into a folder from which packages are found. */
async function compileWorker(outdir: string): Promise<string> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['services/workers/image/main.ts', 'services/workers/image/local/cut-out-thread.ts'],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    packages: 'external',
    outdir: join(outdir, 'services/workers/image'),
    outbase: 'services/workers/image',
    logLevel: 'error',
  });
  return join(outdir, 'services/workers/image/main.js');
}

describe('the worker process, with its default engine', () => {
  const outdir = join(ROOT, '.test', `image-worker-${process.pid}`);
  let client: WorkerClient<Methods>;
  let child: ReturnType<typeof spawn>;

  beforeAll(async () => {
    const program = await compileWorker(outdir);
    await promisify(execFile)('cp', ['-r', join(ROOT, 'protos'), join(outdir, 'protos')]);
    child = spawn(process.execPath, [program], { env: { ...process.env, LOG_LEVEL: 'silent' }, stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface({ input: child.stdout ?? process.stdin }), 'line')) as [string];
    const { ready, port } = JSON.parse(line);
    expect(ready).toBe(true);
    const service = loadWorkerService('image');
    client = new GrpcWorkerClient<Methods>({ service, addresses: [`127.0.0.1:${port}`], name: 'image', maxMessageBytes: 68 * 1_048_576 });
  });
  afterAll(async () => {
    try {
      client.close();
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
      await rm(outdir, { recursive: true });
    }
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

  test('carries more than gRPC carries by default, both ways', async () => {
    const noise = Buffer.alloc(1_800 * 1_800 * 3);
    for (let at = 0; at < noise.length; at++) noise[at] = Math.imul(at + 7, 2_654_435_761) >>> 24;
    const disc600 = Buffer.from(
      '<svg width="1800" height="1800"><circle cx="900" cy="900" r="600" fill="#c82828" fill-opacity="0.9"/></svg>',
    );
    const image = await sharp(noise, { raw: { width: 1_800, height: 1_800, channels: 3 } })
      .linear(0.3, 150)
      .composite([{ input: disc600 }])
      .removeAlpha()
      .png({ compressionLevel: 0 })
      .toBuffer();
    expect(image.length).toBeGreaterThan(8 * 1_048_576);
    expect(image.length).toBeLessThan(10 * 1_048_576);
    expect(await remove(image)).toMatchObject({ width: 1_800, height: 1_800 });
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

test('a model without its runtime, or without its file, keeps the worker from starting and says why', async () => {
  const outdir = join(ROOT, '.test', `image-worker-model-${process.pid}`);
  const program = await compileWorker(outdir);
  const env = { ...process.env, IMAGE_ONNX_MODEL: '/no/such/model.onnx' };
  const failure: unknown = await promisify(execFile)(process.execPath, [program], { env }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 1, stderr: expect.stringContaining('IMAGE_ONNX_MODEL') });
  await rm(outdir, { recursive: true });
});
