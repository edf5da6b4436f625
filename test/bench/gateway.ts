import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

// What the local gateway costs: the service alone, the gateway without a plugin, the gateway with the access layer's exchanges
// (four reads in one batch, two writes with the end), each for a few seconds, with the CPU time of every process.
// Run: npm run build && node dist/test/bench/gateway.js [seconds]

const SECONDS = Number(process.argv[2] ?? 5);
const CONNECTIONS = 32;
/** dist/: this file runs compiled. */
const root = resolve(__dirname, '../..');
const running: ChildProcess[] = [];

interface Started {
  pid: number;
  line: string;
}

function start(script: string, args: readonly string[]): Promise<Started> {
  const flags =
    process.env.PROFILE_DIR !== undefined && script.includes('kong/local')
      ? ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE_DIR}`]
      : [];
  const child = spawn(process.execPath, [...flags, join(root, script), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  return new Promise((resolveStart, reject) => {
    child.once('exit', (code) => reject(new Error(`${script} ended with ${String(code)}`)));
    createInterface({ input: child.stdout }).once('line', (line) => resolveStart({ pid: child.pid ?? 0, line }));
  });
}

/** User and system time of a process in microseconds (fields 14 and 15 of /proc/PID/stat, in clock ticks of 10 ms). */
function cpuMicros(pid: number): number {
  const fields = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

interface Load {
  requestsPerSecond: number;
  p50: number;
  p99: number;
}

function measureWithWrk(url: string): Load {
  const text = execFileSync(
    'wrk',
    ['-t1', `-c${String(CONNECTIONS)}`, `-d${String(SECONDS)}s`, '--latency', '-H', 'X-API-Key: tg_test_x', url],
    { encoding: 'utf8' },
  );
  const millis = (pattern: RegExp): number => {
    const [, value = '0', unit = 'ms'] = pattern.exec(text) ?? [];
    return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? 1);
  };
  if (/Non-2xx/.test(text)) throw new Error(`not every answer was 200:\n${text}`);
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1] ?? 0),
    p50: millis(/50%\s+([\d.]+)(us|ms|s)/),
    p99: millis(/99%\s+([\d.]+)(us|ms|s)/),
  };
}

function measureWithAutocannon(url: string): Load {
  const script = require.resolve('autocannon');
  const text = execFileSync(
    process.execPath,
    [script, '-j', '-c', String(CONNECTIONS), '-d', String(SECONDS), '-H', 'X-API-Key=tg_test_x', url],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const result = JSON.parse(text) as { non2xx: number; requests: { average: number }; latency: { p50: number; p99: number } };
  if (result.non2xx > 0) throw new Error(`${String(result.non2xx)} answers were not 200`);
  return { requestsPerSecond: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 };
}

function hasWrk(): boolean {
  try {
    execFileSync('which', ['wrk']);
    return true;
  } catch {
    return false;
  }
}

function measure(name: string, url: string, pids: Record<string, number>): Load {
  const before = Object.entries(pids).map(([, pid]) => cpuMicros(pid));
  const load = hasWrk() ? measureWithWrk(url) : measureWithAutocannon(url);
  const requests = load.requestsPerSecond * SECONDS;
  const costs = Object.entries(pids).map(
    ([process, pid], index) => `${process} ${((cpuMicros(pid) - (before[index] ?? 0)) / requests).toFixed(0)} µs/req`,
  );
  console.log(
    `${name.padEnd(28)} ${load.requestsPerSecond.toFixed(0).padStart(7)} req/s   p50 ${load.p50.toFixed(2)} ms  p99 ${load.p99.toFixed(2)} ms   ${costs.join(', ')}`,
  );
  return load;
}

async function main(folder: string): Promise<void> {
  const upstream = await start('test/bench/support/stub-upstream.js', []);
  const socket = join(folder, 'plugin.sock');
  const plugin = await start('test/bench/support/stub-plugin-server.js', [socket]);
  writeFileSync(join(folder, 'kong.conf'), `pluginserver_names = stub\npluginserver_stub_socket = ${socket}\n`);
  writeFileSync(
    join(folder, 'info.json'),
    JSON.stringify({
      Protocol: 'ProtoBuf:1',
      Plugins: [{ Name: 'stub', Version: '1', Priority: 1, Phases: ['access'], Schema: [{ config: { type: 'record', fields: [] } }] }],
    }),
  );
  const service = `http://127.0.0.1:${upstream.line}`;
  writeFileSync(
    join(folder, 'kong.yml'),
    JSON.stringify({
      _format_version: '3.0',
      services: [
        { name: 'bare', url: service, routes: [{ name: 'bare', paths: ['~/bare(?:/.*)?$'], strip_path: false }] },
        {
          name: 'guarded',
          url: service,
          routes: [{ name: 'guarded', paths: ['~/guarded(?:/.*)?$'], strip_path: false }],
          plugins: [{ name: 'stub' }],
        },
      ],
    }),
  );
  const gateway = await start('kong/local/main.js', [
    '--port', '0', '--kong-yml', join(folder, 'kong.yml'), '--kong-conf', join(folder, 'kong.conf'), '--plugin-info', join(folder, 'info.json'),
  ]); // prettier-ignore
  const { port } = JSON.parse(gateway.line) as { port: number };
  const base = `http://127.0.0.1:${String(port)}`;
  const pids = { gateway: gateway.pid, plugin: plugin.pid, upstream: upstream.pid };
  measure('warm-up', `${base}/guarded?a=1`, pids);
  measure('service alone', `${service}/`, { upstream: upstream.pid });
  const bare = measure('gateway, no plugin', `${base}/bare?a=1`, pids);
  const guarded = measure('gateway, access exchanges', `${base}/guarded?a=1`, pids);
  console.log(`with / without: ${(guarded.requestsPerSecond / bare.requestsPerSecond).toFixed(2)}`);
}

const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
main(folder)
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(() => {
    // The gateway first: it was started last and would report the others as lost.
    for (const child of running.reverse()) child.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });
