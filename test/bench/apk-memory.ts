import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { appService } from '../../services/app/routes';
import { createLog } from '../../services/kit/log';
import { createMetrics } from '../../services/kit/metrics';
import { contextFor, createHarness, proofHeader } from '../services/kit/harness';
import { testClock } from '../services/kit/test-clock';
import { ApkBuilder, RELEASE_KEY } from '../support/apk/apk-builder';
import { CLEAN_APP } from '../support/apk/apk-samples';

/*
 * Time and memory of one large APK through service and worker. Build first; then: node dist/test/bench/apk-memory.js [megabytes or file…]
 * Prints one JSON line each. The worker is a process of its own; the service shares this one with the client that sends the file.
 */

const MEBIBYTE = 1024 * 1024;

async function statusMb(pid: number, field: 'VmHWM' | 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024);
}

async function startWorker(): Promise<{ pid: number; address: string; stop: () => void }> {
  const main = join(__dirname, '../../services/workers/apk/main.js');
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { port } = JSON.parse(line) as { port: number };
  return { pid: child.pid ?? 0, address: `127.0.0.1:${port}`, stop: () => void child.kill('SIGTERM') };
}

async function post(port: number, apk: string): Promise<{ status: number; body: unknown }> {
  const headers = { ...proofHeader(contextFor('api-app')), 'content-type': 'application/vnd.android.package-archive' };
  const sent = request({ host: '127.0.0.1', port, path: '/app/analyze', method: 'POST', headers });
  const answered = once(sent, 'response') as Promise<[NodeJS.ReadableStream & { statusCode: number }]>;
  await pipeline(createReadStream(apk), sent);
  const [answer] = await answered;
  return { status: answer.statusCode, body: await json(answer) };
}

/** An app of random files of a mebibyte each, signed with every scheme. */
async function buildLarge(builder: ApkBuilder, megabytes: number): Promise<string> {
  const files = Object.fromEntries(Array.from({ length: megabytes }, (_each, index) => [`assets/${index}.bin`, randomBytes(MEBIBYTE)]));
  const unsigned = await builder.build(`large-${megabytes}`, { ...CLEAN_APP, files });
  return builder.sign(unsigned, `signed-${megabytes}`, { key: RELEASE_KEY, v1: true, v2: true, v3: true });
}

async function measure(apk: string): Promise<void> {
  const worker = await startWorker();
  const tools = {
    common: { sandboxUrl: undefined },
    log: createLog('app', { level: 'silent' }),
    clock: testClock,
    metrics: createMetrics(),
  };
  const deps = await appService.createDeps({ ...tools, settings: appService.settings.parse({ APK_WORKER_URL: worker.address }) });
  const { app } = createHarness(appService, { deps });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const idleMb = await statusMb(worker.pid, 'VmRSS');
  const beforeMb = await statusMb(process.pid, 'VmRSS');
  let highest = beforeMb;
  const sampler = setInterval(() => void statusMb(process.pid, 'VmRSS').then((now) => (highest = Math.max(highest, now))), 20);
  const startedAt = performance.now();
  const { status } = await post((app.server.address() as AddressInfo).port, apk);
  const ms = Math.round(performance.now() - startedAt);
  clearInterval(sampler);
  const peakMb = await statusMb(worker.pid, 'VmHWM');
  const figures = { apkMb: Math.round((await stat(apk)).size / MEBIBYTE), status, ms, workerIdleMb: idleMb, workerPeakMb: peakMb };
  process.stdout.write(`${JSON.stringify({ ...figures, serviceAndClientGrowthMb: highest - beforeMb })}\n`);
  await app.close();
  await appService.close?.(deps);
  worker.stop();
}

async function main(): Promise<void> {
  const builder = await ApkBuilder.create();
  try {
    for (const what of process.argv.slice(2)) {
      await measure(/^\d+$/.test(what) ? await buildLarge(builder, Number(what)) : what);
    }
  } finally {
    await builder.close();
  }
}

void main();
