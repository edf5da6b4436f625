import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildSync } from 'esbuild';
import { eventually } from '../support/eventually';
import { expectMeasured, isMeasured } from '../support/measured';
import { runFolder } from '../support/run-folder';
import { serve, type TestServer } from './support/echo-server';
import { startPluginServer, type ScriptedServer } from './support/plugin-server';
import { get } from './support/raw-client';
import { fixtures } from './support/test-gateway';

const GIGABYTE = 1024 ** 3;
const BODY_BYTES = isMeasured ? GIGABYTE : GIGABYTE / 16;
const CHUNK = Buffer.alloc(256 * 1024, 7);
/** What the process may grow by while a gigabyte passes: far below the body, well above what buffers and the collector need. */
const ALLOWED_GROWTH_BYTES = 120 * 1024 * 1024;
/** What fits into the buffers of two connections and one process, far from the gigabyte that was asked for. */
const MOST_BUFFERED_BYTES = 100 * 1024 * 1024;

/** Resident memory in bytes, from the second field of /proc/PID/statm (pages of 4 KiB). */
function residentBytes(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
}

describe('the gateway process', () => {
  const folder = mkdtempSync(join(runFolder(), 'streaming-'));
  let child: ChildProcess;
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
      const send = (): void => {
        while (sent < bytes && !response.destroyed) {
          sent += CHUNK.length;
          if (!response.write(CHUNK)) {
            response.once('drain', send);
            return;
          }
        }
        response.end();
      };
      send();
    });
    plugin = await startPluginServer();
    const script = join(folder, 'gateway.js');
    buildSync({ entryPoints: [join(__dirname, '../../kong/local/main.ts')], bundle: true, platform: 'node', outfile: script });
    writeFileSync(join(folder, 'kong.conf'), 'pluginserver_names = tracer\npluginserver_tracer_socket = /unused\n');
    child = spawn(process.execPath, [script, '--kong-yml', join(fixtures, 'traces.yml'), '--kong-conf', join(folder, 'kong.conf')], {
      env: {
        ...process.env,
        GATEWAY_HOST: '127.0.0.1',
        GATEWAY_PORT: '0',
        PLUGIN_INFO: join(fixtures, 'tracer.json'),
        PLUGIN_SOCKET: plugin.path,
        UPSTREAM_OVERRIDES: JSON.stringify({ echo: upstream.url, methods: upstream.url }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    if (child.stdout === null) throw new Error('no output to read');
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const ready = JSON.parse(line) as { ready: boolean; port: number };
    expect(ready.ready).toBe(true);
    port = ready.port;
  });

  afterAll(async () => {
    if (child.exitCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await plugin.close();
    await upstream.close();
  });

  /** Runs `work` and returns by how much the process grew at its peak, sampled every 20 ms. */
  async function peakGrowth(work: () => Promise<void>): Promise<number> {
    const pid = child.pid ?? 0;
    const before = residentBytes(pid);
    let peak = before;
    const timer = setInterval(() => (peak = Math.max(peak, residentBytes(pid))), 20);
    await work();
    clearInterval(timer);
    return peak - before;
  }

  it('passes a large body to the client without holding it', async () => {
    let received = 0;
    const growth = await peakGrowth(
      () =>
        new Promise((resolve, reject) => {
          request({ port, path: `/echo?bytes=${BODY_BYTES}`, host: '127.0.0.1' }, (response) => {
            response.on('data', (chunk: Buffer) => (received += chunk.length));
            response.on('end', resolve);
          })
            .on('error', reject)
            .end();
        }),
    );
    expect(received).toBe(BODY_BYTES);
    expectMeasured(growth, ALLOWED_GROWTH_BYTES);
  });

  it('passes a large body to the service without holding it', async () => {
    const growth = await peakGrowth(
      () =>
        new Promise((resolve, reject) => {
          const post = request(
            { port, path: '/echo', host: '127.0.0.1', method: 'POST', headers: { 'Content-Length': BODY_BYTES } },
            (response) => {
              response.resume();
              response.on('end', resolve);
            },
          );
          post.on('error', reject);
          let left = BODY_BYTES / CHUNK.length;
          const send = (): void => {
            while (left > 0) {
              left -= 1;
              if (!post.write(CHUNK)) {
                post.once('drain', send);
                return;
              }
            }
            post.end();
          };
          send();
        }),
    );
    expect(uploaded).toBe(BODY_BYTES);
    expectMeasured(growth, ALLOWED_GROWTH_BYTES);
  });

  it('stops reading from the service while the client takes nothing', async () => {
    const growth = await peakGrowth(
      () =>
        new Promise((resolve) => {
          request({ port, path: `/echo?bytes=${GIGABYTE}`, host: '127.0.0.1' }, (response) => {
            response.pause();
            setTimeout(() => {
              response.destroy();
              resolve();
            }, 500);
          })
            .on('error', () => undefined)
            .end();
        }),
    );
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(MOST_BUFFERED_BYTES);
    expectMeasured(growth, ALLOWED_GROWTH_BYTES);
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

  it('ends by itself after SIGTERM', async () => {
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
  });
});

it('does not start on a configuration that it cannot use, and says why', async () => {
  const folder = mkdtempSync(join(runFolder(), 'streaming-'));
  const script = join(folder, 'gateway.js');
  buildSync({ entryPoints: [join(__dirname, '../../kong/local/main.ts')], bundle: true, platform: 'node', outfile: script });
  writeFileSync(join(folder, 'kong.yml'), '_format_version: "3.0"\nservices: []\nconsumers: []\n');
  const child = spawn(process.execPath, [
    script,
    ...[
      '--kong-yml',
      join(folder, 'kong.yml'),
      '--kong-conf',
      join(fixtures, 'traces.conf'),
      '--plugin-info',
      join(fixtures, 'tracer.json'),
    ],
  ]);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect(code).toBe(1);
  expect(errors).toContain('kong.yml cannot be used:');
  expect(errors).toContain('  - consumers: the local gateway does not implement this');
});
