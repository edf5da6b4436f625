import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { comparePluginServers, type PluginServerComparison, type PluginServerFigures } from './plugin-server/compare';
import { kongTable, measureRealKong } from './kong';
import { type BenchNode, startBenchNode } from './support/bench-node';
import { type BenchStores, withBenchStores } from './support/bench-stores';
import { measure, type MeasuredLoad, startUpstream, stopAll } from './support/load';
import { loadTable, tableOf } from './support/load-table';

// `npm run bench [-- seconds] [--write]`: one table of what a request costs on each way, from nothing in front of the product to the whole
// access layer, and beside it the plugin server against the stock one. With --write it goes into docs/benchmarks.md.
// A real Kong is measured too where BENCH_KONG says what runs one (`kong`, or a path).

const DOCUMENT = resolve(__dirname, '../../docs/benchmarks.md');
const MARKERS = ['<!-- figures -->', '<!-- end of figures -->'] as const;

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

/** Keeps the text around the figures. */
function writeDocument(figures: string): void {
  const text = readFileSync(DOCUMENT, 'utf8');
  const [begin, end] = MARKERS.map((marker) => text.indexOf(marker));
  if (begin === undefined || end === undefined || begin < 0 || end < begin) throw new Error('docs/benchmarks.md has lost its markers');
  writeFileSync(DOCUMENT, `${text.slice(0, begin + MARKERS[0].length)}\n\n${figures}\n\n${text.slice(end)}`);
}

async function main(stores: BenchStores): Promise<void> {
  const words = process.argv.slice(2);
  const seconds = Number(words.find((word) => /^\d+$/.test(word)) ?? 5);
  const loads = await measureGateways(stores, seconds);
  await stopAll();
  const command = process.env['BENCH_KONG'];
  const onKong = command ? [kongTable(await measureRealKong({ stores, command, seconds, rounds: 3 }))] : [];
  // The gateways have done their part; the servers get the machine for themselves.
  await stopAll();
  const servers = await comparePluginServers(200_000);
  const [cpu] = cpus();
  const machine = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, Node.js ${process.version}, ${seconds} s a row, 32 connections; load generator and stores on the same machine.`;
  const figures = [machine, gatewayTable(loads), ...onKong, serverTable(servers)].join('\n\n');
  console.log(`\n${figures}`);
  if (words.includes('--write')) writeDocument(figures);
}

void withBenchStores(main);
