import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Readable } from 'node:stream';
import { loadWorkerService } from '../../../services/kit/worker/load-proto';
import { GrpcWorkerClient } from '../../../services/kit/worker/worker-client';
import { type SeoWorkerMethods } from '../../../services/seo/research-route';

const root = join(__dirname, '../../..');
// As deep as the source, so that the program finds its proto.
const folder = join(root, '.test', 'workers', `seo-${process.pid}`);
const program = join(folder, 'main.cjs');

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  const options = ['--bundle', '--platform=node', '--packages=external', '--log-level=error', `--outfile=${program}`];
  execFileSync(join(root, 'node_modules/.bin/esbuild'), [join(root, 'services/workers/seo/main.ts'), ...options]);
});
afterAll(() => rmSync(folder, { recursive: true }));

const children: ChildProcessByStdio<null, Readable, Readable>[] = [];
afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

function start(env: Record<string, string>): ChildProcessByStdio<null, Readable, Readable> {
  const child = spawn(process.execPath, [program], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  return child;
}

test('prints one ready line, serves, and ends cleanly on SIGTERM', async () => {
  const child = start({ WORKER_PORT: '0' });
  const exited = once(child, 'exit');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { ready, port } = JSON.parse(String(line)) as { ready: boolean; port: number };
  expect(ready).toBe(true);
  const service = loadWorkerService('seo');
  const worker = new GrpcWorkerClient<SeoWorkerMethods>({ service, addresses: [`127.0.0.1:${port}`], name: 'seo' });
  await worker.checkHealth(60_000);
  worker.close();
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

test('names every setting that is wrong and does not start', async () => {
  const child = start({ SEO_SEARXNG_URL: 'ftp://secret@x', SEO_TRANCO: 'maybe', WORKER_PORT: '99999' });
  let said = '';
  child.stderr.on('data', (data: Buffer) => (said += data.toString()));
  expect((await once(child, 'close'))[0]).toBe(1);
  for (const name of ['SEO_SEARXNG_URL', 'SEO_TRANCO', 'WORKER_PORT']) expect(said).toContain(name);
  expect(said).not.toContain('secret');
});
