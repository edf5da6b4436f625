import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

// Our plugin server against the stock one (kong-pdk), each with the same plugin, each driven by a separate process over 16
// connections. Run: `node cli/build.mjs && node dist/test/bench/plugin-server/run.js [events]`; about 30 s with the default.
// The driver shares the machine's cores with the server, so the CPU of the server per event is the figure to compare first.

const connections = 16;
const ourEvents = Number(process.argv[2] ?? 200_000);
/** The stock server is several times slower: a part of the events takes as long. */
const stockEvents = Math.ceil(ourEvents / 4);
/** /proc counts in USER_HZ, which Linux fixes at 100 a second. */
const tickUs = 10_000;

interface Figures {
  eventsPerSecond: number;
  cpuUsPerEvent: number;
  userUsPerEvent: number;
  rssMiB: number;
}

function cpuUs(pid: number): { user: number; total: number } {
  // The second field, the command in brackets, may hold spaces; utime and stime are the 12th and 13th after it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const [user, system] = [Number(fields[11]) * tickUs, Number(fields[12]) * tickUs];
  return { user, total: user + system };
}

function rssMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

async function measure(protocol: string, server: ChildProcess, socketPath: string, events: number): Promise<Figures> {
  while (!existsSync(socketPath)) await new Promise((resolve) => setTimeout(resolve, 20));
  const pid = server.pid ?? 0;
  const warmUp = Math.ceil(events / 5);
  const args = [protocol, socketPath, connections, events, warmUp].map(String);
  const driver = fork(join(__dirname, 'drive.js'), args);
  await once(driver, 'message');
  const [startedAt, before] = [performance.now(), cpuUs(pid)];
  await once(driver, 'message');
  const [endedAt, after] = [performance.now(), cpuUs(pid)];
  const rss = rssMiB(pid);
  const gone = once(server, 'exit');
  server.kill('SIGTERM');
  await gone;
  const measured = events - warmUp;
  return {
    eventsPerSecond: Math.round((measured / (endedAt - startedAt)) * 1000),
    cpuUsPerEvent: (after.total - before.total) / measured,
    userUsPerEvent: (after.user - before.user) / measured,
    rssMiB: rss,
  };
}

function startStock(folder: string): ChildProcess {
  const program = join(dirname(require.resolve('kong-pdk/package.json')), 'bin', 'kong-js-pluginserver');
  const plugins = join(__dirname, '../../server/echo-plugin');
  return spawn(process.execPath, [program, '-d', plugins, '-p', folder, '--sock-name', 'stock.sock'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function startOurs(socketPath: string): ChildProcess {
  const profile = process.env['CPU_PROF_DIR'];
  const options = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];
  return spawn(process.execPath, [...options, join(__dirname, 'our-server.js'), socketPath], { stdio: 'inherit' });
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-server-bench-'));
  const socket = (name: string): string => join(folder, `${name}.sock`);
  const ours = await measure('protobuf', startOurs(socket('ours')), socket('ours'), ourEvents);
  const asKong = await measure('as-kong', startOurs(socket('again')), socket('again'), stockEvents);
  const stock = await measure('msgpack', startStock(folder), socket('stock'), stockEvents);
  console.table({ ours, 'ours, replies in the pieces Kong writes': asKong, stock });
  const faster = (ours.eventsPerSecond / stock.eventsPerSecond).toFixed(2);
  const cheaper = (ours.cpuUsPerEvent / stock.cpuUsPerEvent).toFixed(2);
  console.log(`ours against stock: ${faster} x events/s, ${cheaper} x CPU per event`);
  rmSync(folder, { recursive: true, force: true });
}

void main();
