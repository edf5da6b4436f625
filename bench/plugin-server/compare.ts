import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cpuMicros } from '../support/load';

// Our plugin server against the stock one (kong-pdk), each with the same plugin, each driven by a separate process over 16 connections. The
// driver shares the machine's cores with the server, so the server's CPU per event is the figure to compare first.

const connections = 16;

/** Throughput and cost of one plugin server; times in microseconds. */
export interface PluginServerFigures {
  eventsPerSecond: number;
  cpuUsPerEvent: number;
  rssMiB: number;
}

function rssMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

async function measure(protocol: string, server: ChildProcess, socketPath: string, events: number): Promise<PluginServerFigures> {
  while (!existsSync(socketPath)) await new Promise((resolve) => setTimeout(resolve, 20));
  const pid = server.pid ?? 0;
  const warmUp = Math.ceil(events / 5);
  const args = [protocol, socketPath, connections, events, warmUp].map(String);
  const driver = fork(join(__dirname, 'drive.js'), args);
  await once(driver, 'message');
  const [startedAt, before] = [performance.now(), cpuMicros(pid)];
  await once(driver, 'message');
  const [endedAt, after] = [performance.now(), cpuMicros(pid)];
  const rss = rssMiB(pid);
  const gone = once(server, 'exit');
  server.kill('SIGTERM');
  await gone;
  const measured = events - warmUp;
  return {
    eventsPerSecond: Math.round((measured / (endedAt - startedAt)) * 1000),
    cpuUsPerEvent: (after - before) / measured,
    rssMiB: rss,
  };
}

function startStock(folder: string): ChildProcess {
  const program = join(dirname(require.resolve('kong-pdk/package.json')), 'bin', 'kong-js-pluginserver');
  const plugins = join(__dirname, 'echo-plugin');
  return spawn(process.execPath, [program, '-d', plugins, '-p', folder, '--sock-name', 'stock.sock'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function startOurs(socketPath: string): ChildProcess {
  return spawn(process.execPath, [join(__dirname, 'our-server.js'), socketPath], { stdio: 'inherit' });
}

export interface PluginServerComparison {
  readonly ours: PluginServerFigures;
  /** Our server, with replies in the pieces that Kong writes. */
  readonly asKong: PluginServerFigures;
  readonly stock: PluginServerFigures;
}

/** Measures both servers, one after the other. @param events for ours; the stock server is several times slower and gets a quarter */
export async function comparePluginServers(events: number): Promise<PluginServerComparison> {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-server-bench-'));
  const socket = (name: string): string => join(folder, `${name}.sock`);
  const few = Math.ceil(events / 4);
  try {
    const ours = await measure('protobuf', startOurs(socket('ours')), socket('ours'), events);
    const asKong = await measure('as-kong', startOurs(socket('again')), socket('again'), few);
    const stock = await measure('msgpack', startStock(folder), socket('stock'), few);
    return { ours, asKong, stock };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
