import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

/** dist/, because benchmarks run compiled code. */
const root = resolve(__dirname, '../..');
const CONNECTIONS = 32;
/** The log and the counts of requests are written within a second or two. */
const SETTLE_MS = 3_000;
const running: ChildProcess[] = [];
let logs: string | undefined;

export interface Started {
  readonly pid: number;
  /** The first line on stdout. */
  readonly line: string;
}

/** Opens a log file for one program, as `npm start` does. On the screen, a line per request would hide everything else. */
function openLog(): { path: string; fd: number } {
  logs ??= mkdtempSync(join(tmpdir(), 'tollgate-bench-logs-'));
  const path = join(logs, `${String(running.length)}.log`);
  return { path, fd: openSync(path, 'w') };
}

/** Starts a built program and waits for its first line. */
export function start(script: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Started> {
  const log = openLog();
  const child = spawn(process.execPath, [join(root, script), ...args], {
    stdio: ['ignore', 'pipe', log.fd],
    env: { ...process.env, ...env },
  });
  closeSync(log.fd);
  running.push(child);
  const { stdout } = child;
  if (stdout === null) throw new Error(`${script} has no stdout`);
  return new Promise((done, reject) => {
    child.once('exit', (code) =>
      reject(new Error(`${script} ended with ${String(code)}:\n${readFileSync(log.path, 'utf8').slice(-2_000)}`)),
    );
    createInterface({ input: stdout }).once('line', (line) => done({ pid: child.pid ?? 0, line }));
  });
}

/** A service that responds at once with 200 bytes. */
export async function startUpstream(): Promise<{ url: string; pid: number }> {
  const { line, pid } = await start('bench/support/stub-upstream.js');
  return { url: `http://127.0.0.1:${line}`, pid };
}

/** Ends everything that was started, in reverse order, because earlier programs would report later ones as lost. */
export async function stopAll(): Promise<void> {
  for (const child of running.splice(0).reverse()) {
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGTERM');
    await ended;
  }
  if (logs !== undefined) rmSync(logs, { recursive: true, force: true });
  logs = undefined;
}

/** User and system time of a process in microseconds (fields 14 and 15 of /proc/PID/stat, in clock ticks of 10 ms). */
export function cpuMicros(pid: number): number {
  const fields = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

export interface Load {
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** A load and what it cost. */
export interface MeasuredLoad extends Load {
  readonly name: string;
  /** CPU time of each process per request, in microseconds. */
  readonly cpuMicros: Readonly<Record<string, number>>;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[values.length >> 1] ?? NaN;
}

function measureWithWrk({ url, seconds, key, refused = false }: Measurement): Load {
  const header = key === undefined ? [] : ['-H', `X-API-Key: ${key}`];
  const args = ['-t1', `-c${String(CONNECTIONS)}`, `-d${String(seconds)}s`, '--latency', ...header, url];
  const text = execFileSync('wrk', args, { encoding: 'utf8' });
  const millis = (pattern: RegExp): number => {
    const [, value = '0', unit = 'ms'] = pattern.exec(text) ?? [];
    return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? 1);
  };
  const all = /(\d+) requests in/.exec(text)?.[1];
  const others = /Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? '0';
  if (others !== (refused ? all : '0')) throw new Error(`not every response was ${refused ? 'a refusal' : '200'}:\n${text}`);
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1] ?? 0),
    p50: millis(/50%\s+([\d.]+)(us|ms|s)/),
    p99: millis(/99%\s+([\d.]+)(us|ms|s)/),
  };
}

function measureWithAutocannon({ url, seconds, key, refused = false }: Measurement): Load {
  const header = key === undefined ? [] : ['-H', `X-API-Key=${key}`];
  const args = ['-j', '-c', String(CONNECTIONS), '-d', String(seconds), ...header, url];
  const text = execFileSync(process.execPath, [require.resolve('autocannon'), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const result = JSON.parse(text) as {
    non2xx: number;
    '2xx': number;
    requests: { average: number };
    latency: { p50: number; p99: number };
  };
  const wrong = refused ? result['2xx'] : result.non2xx;
  if (wrong > 0) throw new Error(`${String(wrong)} responses were not ${refused ? 'refusals' : '200'}`);
  return { requestsPerSecond: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 };
}

const hasWrk = (): boolean => spawnSync('which', ['wrk']).status === 0;

export interface Measurement {
  readonly name: string;
  readonly url: string;
  readonly seconds: number;
  /** Undefined: no key is sent. */
  readonly key: string | undefined;
  /** True if every request must be refused. */
  readonly refused?: boolean;
  /** Processes whose CPU time per request is reported. */
  readonly pids: Readonly<Record<string, number>>;
}

/** Loads one URL and prints a line. @throws Error when a response was not 2xx, or when one was 2xx and all should have been refused */
export function measure(measurement: Measurement): MeasuredLoad {
  const { name, seconds, pids } = measurement;
  const before = Object.values(pids).map(cpuMicros);
  const load = hasWrk() ? measureWithWrk(measurement) : measureWithAutocannon(measurement);
  // Writes that a load leaves behind belong to its own cost, rather than to that of the next load.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SETTLE_MS);
  const requests = load.requestsPerSecond * seconds;
  const costs = Object.entries(pids).map(([process, pid], index): [string, number] => [
    process,
    (cpuMicros(pid) - (before[index] ?? 0)) / requests,
  ]);
  const speed = `${load.requestsPerSecond.toFixed(0).padStart(7)} req/s   p50 ${load.p50.toFixed(2)} ms  p99 ${load.p99.toFixed(2)} ms`;
  const cost = costs.map(([process, micros]) => `${process} ${micros.toFixed(0)}`).join(', ');
  console.log(`${name.padEnd(40)} ${speed}   CPU µs/req: ${cost}`);
  return { ...load, name, cpuMicros: Object.fromEntries(costs) };
}
