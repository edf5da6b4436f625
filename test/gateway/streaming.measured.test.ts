import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request, type RequestOptions } from 'node:http';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type Writable } from 'node:stream';
import { buildSync } from 'esbuild';
import { eventually } from '../support/eventually';
import { expectMeasured, isMeasured } from '../support/measured';
import { newFolder } from '../support/run-folder';
import { serve, type TestServer } from '../support/http';
import { startPluginServer, type ScriptedServer } from './support/plugin-server';
import { get } from './support/raw-client';
import { fixtures } from './support/test-gateway';

const GIGABYTE = 1024 ** 3;
const BODY_BYTES = isMeasured ? GIGABYTE : GIGABYTE / 16;
const CHUNK = Buffer.alloc(256 * 1024, 7);
/** What the process may grow by while a gigabyte passes: far below the body, well above what buffers and the collector need. */
const ALLOWED_GROWTH_BYTES = 120 * 1024 * 1024;
/** What fits into the buffers of two connections and one process, far from the gigabyte that was asked for. */
const MAX_BUFFERED_BYTES = 100 * 1024 * 1024;

/** Resident memory in bytes, from the second field of /proc/PID/statm (pages of 4 KiB). */
function residentBytes(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
}

const folder = newFolder();
const script = join(folder, 'gateway.js');
beforeAll(
  () => void buildSync({ entryPoints: [join(__dirname, '../../kong/local/main.ts')], bundle: true, platform: 'node', outfile: script }),
);

/** @param kongYml its path, from the folder of fixtures */
function startProcess(kongYml: string, env: Record<string, string> = {}): ChildProcessWithoutNullStreams {
  const args = [script, '--kong-yml', resolve(fixtures, kongYml), '--kong-conf', join(fixtures, 'traces.conf')];
  const own = { GATEWAY_HOST: '127.0.0.1', PLUGIN_INFO: join(fixtures, 'tracer.json'), ...env };
  return spawn(process.execPath, args, { env: { ...process.env, ...own } });
}

/** Writes chunks as fast as they are taken, and ends. */
function pour(stream: Writable, bytes: number, onChunk: () => void = () => undefined): void {
  for (let left = bytes; left > 0 && !stream.destroyed; left -= CHUNK.length) {
    onChunk();
    if (stream.write(CHUNK)) continue;
    stream.once('drain', () => pour(stream, left - CHUNK.length, onChunk));
    return;
  }
  stream.end();
}

describe('the gateway process', () => {
  let child: ChildProcessWithoutNullStreams;
  let port = 0;
  let upstream: TestServer;
  let plugin: ScriptedServer;
  let uploaded = 0;
  /** Of the last answer. */
  let sent = 0;
  let log = '';

  beforeAll(async () => {
    upstream = await serve((incoming, response) => {
      if (incoming.method === 'POST') {
        uploaded = 0;
        incoming.on('data', (chunk: Buffer) => (uploaded += chunk.length));
        incoming.on('end', () => response.end('thanks'));
        return;
      }
      const bytes = Number(new URL(incoming.url ?? '', 'http://echo').searchParams.get('bytes') ?? 0);
      sent = 0;
      pour(response, bytes, () => (sent += CHUNK.length));
    });
    plugin = await startPluginServer();
    child = startProcess('traces.yml', {
      GATEWAY_PORT: '0',
      PLUGIN_SOCKET: plugin.path,
      UPSTREAM_OVERRIDES: JSON.stringify({ echo: upstream.url, methods: upstream.url }),
    });
    child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const ready = JSON.parse(line) as { ready: boolean; port: number };
    expect(ready.ready).toBe(true);
    port = ready.port;
  });

  afterAll(async () => {
    if (child.exitCode === null) {
      child?.kill('SIGKILL');
      await once(child, 'exit');
    }
    await plugin?.close();
    await upstream?.close();
  });

  /** Makes a request, whose answer `use` takes, while it measures by how much the process grows at its peak, sampled every 20 ms. */
  async function expectLittleGrowth(
    options: RequestOptions,
    { bytes = 0, use }: { bytes?: number; use: (response: IncomingMessage, done: () => void) => void },
  ): Promise<void> {
    const pid = child.pid ?? 0;
    const before = residentBytes(pid);
    let peak = before;
    const timer = setInterval(() => (peak = Math.max(peak, residentBytes(pid))), 20);
    await new Promise<void>((done, fail) => {
      pour(request({ port, host: '127.0.0.1', ...options }, (response) => use(response, done)).on('error', fail), bytes);
    });
    clearInterval(timer);
    expectMeasured(peak - before, ALLOWED_GROWTH_BYTES);
  }

  it('passes a large body to the client without holding it', async () => {
    let received = 0;
    await expectLittleGrowth(
      { path: `/echo?bytes=${BODY_BYTES}` },
      { use: (response, done) => response.on('data', (chunk: Buffer) => (received += chunk.length)).on('end', done) },
    );
    expect(received).toBe(BODY_BYTES);
  });

  it('passes a large body to the service without holding it', async () => {
    await expectLittleGrowth(
      { path: '/echo', method: 'POST', headers: { 'Content-Length': BODY_BYTES } },
      { bytes: BODY_BYTES, use: (response, done) => response.resume().on('end', done) },
    );
    expect(uploaded).toBe(BODY_BYTES);
  });

  it('stops reading from the service while the client takes nothing', async () => {
    const pause = (response: IncomingMessage, done: () => void): void => {
      response.pause();
      setTimeout(() => {
        response.destroy();
        done();
      }, 500);
    };
    await expectLittleGrowth({ path: `/echo?bytes=${GIGABYTE}` }, { use: pause });
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(MAX_BUFFERED_BYTES);
  });

  it('writes its log as JSON lines without a query string', async () => {
    await get(port, '/dead?api_key=tg_live_secret');
    await eventually(() => /service did not answer.*\n/.test(log));
    const lines = log
      .slice(0, log.lastIndexOf('\n'))
      .split('\n')
      .map((line) => JSON.parse(line) as { message: string; path?: string });
    expect(lines).toContainEqual(expect.objectContaining({ message: 'service did not answer', path: '/dead' }));
    expect(log).not.toContain('secret');
  });
});

it('does not start on a configuration that it cannot use, and says why', async () => {
  writeFileSync(join(folder, 'kong.yml'), '_format_version: "3.0"\nservices: []\nconsumers: []\n');
  const child = startProcess(join(folder, 'kong.yml'));
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect(code).toBe(1);
  expect(errors).toMatch(/kong\.yml cannot be used:\n[^]* {2}- consumers: the local gateway does not implement this\n/);
});
