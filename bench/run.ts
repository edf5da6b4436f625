import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { Redis } from 'ioredis';
import { comparePluginServers, type PluginServerComparison, type PluginServerFigures } from './plugin-server/compare';
import { kongTable, measureRealKong } from './kong';
import { type BenchNode, startBenchNode } from './support/bench-node';
import { type BenchStores, withBenchStores } from './support/bench-stores';
import { measure, type MeasuredLoad, startUpstream, stopAll } from './support/load';
import { loadTable, tableOf } from './support/load-table';

// `npm run bench [-- seconds [rounds]] [--write]`: a table of the cost of a request on each path, from the product alone to the whole
// access layer, and beside it the plugin server against the stock one. If BENCH_KONG names the command that runs Kong (`kong`, or a path),
// also a table of Kong, with medians of `rounds` rounds. With --write the tables go into docs/benchmarks.md; a table that was not measured
// stays there.

const DOCUMENT = resolve(__dirname, '../../docs/benchmarks.md');

/** The parts of the document that a run replaces. They stand between comments with these names. */
type Part = 'figures' | 'figures on Kong';

async function measureGateways({ folder, databaseUrl, redisUrl, key }: BenchStores, seconds: number): Promise<MeasuredLoad[]> {
  const { url: service, pid } = await startUpstream();
  const onRedis = await startBenchNode({ folder, service, databaseUrl, name: 'redis', redisUrl });
  const onPostgres = await startBenchNode({ folder, service, databaseUrl, name: 'postgres', redisUrl: '' });
  const load = (name: string, node: BenchNode, path: string): MeasuredLoad =>
    measure({ name, url: `${node.base}/${path}?a=1`, seconds, key, pids: node.pids });
  for (const node of [onRedis, onPostgres]) load('(warm-up)', node, 'guarded');
  return [
    measure({ name: 'the product alone', url: service, seconds, key, pids: { gateway: pid } }),
    load('local gateway, no plugin', onRedis, 'bare'),
    load('local gateway, the access layer on PostgreSQL', onPostgres, 'guarded'),
    load('local gateway, the access layer on Redis', onRedis, 'guarded'),
  ];
}

const gatewayTable = (loads: readonly MeasuredLoad[]): string =>
  loadTable(loads, {
    title: 'way',
    base: 'local gateway, no plugin',
    processes: { 'gateway (or product)': 'gateway', 'plugin server': 'plugin' },
  });

function serverTable({ ours, asKong, stock }: PluginServerComparison): string {
  const line = (name: string, { eventsPerSecond, cpuUsPerEvent, rssMiB }: PluginServerFigures): (string | number)[] => {
    const ratio = eventsPerSecond / stock.eventsPerSecond;
    return [name, eventsPerSecond, ratio.toFixed(2), cpuUsPerEvent.toFixed(1), rssMiB.toFixed(0)];
  };
  return tableOf(
    ['plugin server, the same plugin', 'events/s', 'ratio', 'CPU µs an event', 'RSS MiB'],
    [line('ours', ours), line('ours, replies in the pieces that Kong writes', asKong), line('kong-js-pluginserver of kong-pdk', stock)],
  );
}

/** Replaces one part of the document and keeps the rest. */
function writePart(part: Part, figures: string): void {
  const text = readFileSync(DOCUMENT, 'utf8');
  const [first, last] = [`<!-- ${part} -->`, `<!-- end of ${part} -->`];
  const [begin, end] = [text.indexOf(first), text.indexOf(last)];
  if (begin < 0 || end < begin) throw new Error(`docs/benchmarks.md has lost its part "${part}"`);
  writeFileSync(DOCUMENT, `${text.slice(0, begin + first.length)}\n\n${figures}\n\n${text.slice(end)}`);
}

/** Time and machine of the run. Figures from a machine with other work mean little, so its load is included. */
async function describeRun(redisUrl: string): Promise<string> {
  const redis = new Redis(redisUrl);
  const [, version = ''] = /redis_version:(\S+)/.exec(await redis.info('server')) ?? [];
  redis.disconnect();
  const [cpu] = cpus();
  const machine = `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'} (load ${loadavg()[0]?.toFixed(1)} at the start)`;
  return `${new Date().toISOString().slice(0, 10)}, ${machine}, Node.js ${process.version}, Redis ${version}`;
}

async function main(stores: BenchStores): Promise<void> {
  const words = process.argv.slice(2);
  const [seconds = 5, rounds = 3] = words.filter((word) => /^\d+$/.test(word)).map(Number);
  const run = await describeRun(stores.redisUrl);
  const parts: Partial<Record<Part, string>> = {};
  const loads = await measureGateways(stores, seconds);
  await stopAll();
  const command = process.env['BENCH_KONG'];
  if (command) {
    const version = execFileSync(command, ['version'], { encoding: 'utf8' }).trim();
    const table = kongTable(await measureRealKong({ stores, command, seconds, rounds }));
    parts['figures on Kong'] = `${run}, Kong ${version}; medians of ${rounds} rounds of ${seconds} s a row, 32 connections.\n\n${table}`;
    await stopAll();
  }
  // The gateways are finished, so the servers get the machine for themselves.
  const servers = serverTable(await comparePluginServers(200_000));
  parts.figures = `${run}; ${seconds} s a row, 32 connections.\n\n${gatewayTable(loads)}\n\n${servers}`;
  console.log(`\n${Object.values(parts).join('\n\n')}`);
  if (words.includes('--write')) for (const part of ['figures', 'figures on Kong'] as const) if (parts[part]) writePart(part, parts[part]);
}

void withBenchStores(main);
