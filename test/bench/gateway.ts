import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measure as measureLoad, start, stopAll, type Load } from './support/load';

// What the local gateway costs: the service alone, the gateway without a plugin, the gateway with the access layer's exchanges
// (four reads in one batch, two writes with the end), each for a few seconds, with the CPU time of every process.
// Run: npm run build && node dist/test/bench/gateway.js [seconds]

const SECONDS = Number(process.argv[2] ?? 5);

function measure(name: string, url: string, pids: Record<string, number>): Load {
  return measureLoad({ name, url, pids, seconds: SECONDS, key: 'tg_test_x' });
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
  .finally(async () => {
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
  });
