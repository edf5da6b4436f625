import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { type Readable } from 'node:stream';
import { DRIVE_FILES } from '../../../services/sandbox/gdplay/drive-files';
import { type Sandbox } from '../../../services/sandbox/start-sandbox';
import { endProgram, startProgram } from '../../support/system/program';
import { TEST_HEADERS } from './gdplay-harness';
import { startTestSandbox } from '../../support/sandbox';

describe('a gigabyte', () => {
  let sandbox: Sandbox;
  let child: ChildProcess;
  let url: unknown;
  let lines: AsyncIterator<string>;
  /** The growth that is allowed: buffers of two connections, and the heap's own breathing. */
  const MAX_GROWTH_BYTES = 40 * 1024 * 1024;

  const memory = async (): Promise<{ nowBytes: number; peakBytes: number }> => {
    child.stdin?.write('\n');
    return JSON.parse(String((await lines.next()).value));
  };

  beforeAll(async () => {
    sandbox = await startTestSandbox();
    const started = await startProgram('test/products/gdplay/memory-child.js', { env: { SANDBOX_URL: sandbox.url } });
    child = started.child;
    url = started.ready['url'];
    lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  });
  afterAll(async () => {
    await endProgram(child);
    await sandbox?.close();
  });

  async function download(url: string, range: string): Promise<number> {
    const request = get(url, { headers: { ...TEST_HEADERS, range } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await once(response, 'end');
    return bytes;
  }

  it('passes through a process whose memory stays flat', async () => {
    const address = `${String(url)}/gdplay/stream?id=${DRIVE_FILES.large.id}`;
    expect(await download(address, 'bytes=0-67108863')).toBe(67_108_864);
    const { nowBytes } = await memory();
    expect(await download(address, 'bytes=0-')).toBe(DRIVE_FILES.large.size);
    const { peakBytes } = await memory();
    expect(peakBytes - nowBytes).toBeLessThan(MAX_GROWTH_BYTES);
  });
});
