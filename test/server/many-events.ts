import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPluginServer } from '../../plugins/server/plugin-server';
import { driveProtobuf } from '../../bench/plugin-server/protobuf-driver';
import { ScriptedKong } from './scripted-kong';
import { pluginWith } from './test-server';

// Run by itself with `node --expose-gc`: serves EVENTS events (default 200,000; the built file takes any number) and prints, as JSON,
// how much more memory is in use after them than after the first tenth. One in a hundred is refused, which ends its connection.

const events = Number(process.env['EVENTS'] ?? 200_000);

interface Memory {
  heapBytes: number;
  bufferBytes: number;
  rssBytes: number;
}

function memory(): Memory {
  for (let round = 0; round < 3; round++) globalThis.gc?.();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, bufferBytes: arrayBuffers, rssBytes: rss };
}

const plugin = pluginWith(async (kong, config) => {
  if (config['exit'] === true) return void kong.response.exit(401, Buffer.from('{}'), { 'Content-Type': 'application/problem+json' });
  const [headers] = await Promise.all([
    kong.request.getHeaders(),
    kong.request.getRawQuery(),
    kong.client.getForwardedIp(),
    kong.nginx.getVar('kong_request_id'),
  ]);
  await kong.service.request.setHeaders({ 'X-Host': (headers as Record<string, string>)['host'] ?? '' });
  await kong.service.request.clearHeader('X-API-Key');
});

async function main(): Promise<void> {
  if (!globalThis.gc) throw new Error('run this with node --expose-gc');
  const folder = mkdtempSync(join(tmpdir(), 'many-events-'));
  const socketPath = join(folder, 'kong.sock');
  const quiet = (): void => {};
  const server = createPluginServer({ plugin, socketPath, log: { info: quiet, warn: quiet, error: quiet }, eventDeadlineMs: 120_000 });
  await server.listen();
  const refusing = await (await ScriptedKong.connect(socketPath)).startInstance({ exit: true });
  const drive = async (count: number): Promise<void> => {
    await driveProtobuf({ socketPath, connections: 8, events: count, warmUp: 0, onWarm: quiet, asKongWrites: false });
    for (let each = 0; each < count / 100; each++) {
      const record = await (await ScriptedKong.connect(socketPath)).event(refusing);
      if (record.exit?.status !== 401) throw new Error('let through');
    }
  };
  await drive(events / 10);
  const before = memory();
  const startedAt = performance.now();
  await drive(events);
  const seconds = (performance.now() - startedAt) / 1000;
  const after = memory();
  const { failed, running } = server.stats();
  console.log(
    JSON.stringify({
      events: server.stats().events,
      failed,
      running,
      heapGrowthBytes: after.heapBytes - before.heapBytes,
      bufferGrowthBytes: after.bufferBytes - before.bufferBytes,
      rssGrowthBytes: after.rssBytes - before.rssBytes,
      eventsPerSecond: Math.round(events / seconds),
    }),
  );
  await server.close({ graceMs: 100 });
  rmSync(folder, { recursive: true, force: true });
}

void main();
