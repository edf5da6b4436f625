import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Readable, type Writable } from 'node:stream';
import { DRIVE_FILES } from '../../../services/sandbox/gdplay/drive-files';
import { createSandboxUpstreams } from '../../../services/sandbox/sandbox-upstreams';
import { type Sandbox, startSandbox } from '../../../services/sandbox/start-sandbox';
import { TEST_HEADERS } from './gdplay-harness';

describe('a gigabyte', () => {
  const root = join(__dirname, '../../..');
  const program = join(root, '.test', `gdplay-memory-${process.pid}.cjs`);
  let sandbox: Sandbox;
  let child: ChildProcessByStdio<Writable, Readable, null>;
  let lines: AsyncIterator<string>;
  /** The growth that is allowed: buffers of two connections, and the heap's own breathing. */
  const MOST_GROWTH_BYTES = 40 * 1024 * 1024;

  const nextLine = async () => JSON.parse(String((await lines.next()).value));
  const memory = async (): Promise<{ nowBytes: number; peakBytes: number }> => {
    child.stdin.write('\n');
    return nextLine();
  };

  beforeAll(async () => {
    const options = ['--bundle', '--platform=node', '--packages=external', '--log-level=error', `--outfile=${program}`];
    execFileSync(join(root, 'node_modules/.bin/esbuild'), [join(__dirname, 'memory-child.ts'), ...options]);
    sandbox = await startSandbox({ host: '127.0.0.1', port: 0, upstreams: createSandboxUpstreams() });
    child = spawn(process.execPath, [program], { env: { ...process.env, SANDBOX_URL: sandbox.url }, stdio: ['pipe', 'pipe', 'inherit'] });
    lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  });
  afterAll(async () => {
    const exited = once(child, 'exit');
    child.kill();
    await exited;
    await sandbox.close();
    rmSync(program);
  });

  async function download(url: string, range: string): Promise<number> {
    const request = get(url, { headers: { ...TEST_HEADERS, range } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await once(response, 'end');
    return bytes;
  }

  test('passes through a process whose memory stays flat', async () => {
    const { url } = await nextLine();
    const address = `${url}/gdplay/stream?id=${DRIVE_FILES.large.id}`;
    expect(await download(address, 'bytes=0-67108863')).toBe(67_108_864);
    const { nowBytes } = await memory();
    expect(await download(address, 'bytes=0-')).toBe(DRIVE_FILES.large.size);
    const { peakBytes } = await memory();
    expect(peakBytes - nowBytes).toBeLessThan(MOST_GROWTH_BYTES);
  });
});
