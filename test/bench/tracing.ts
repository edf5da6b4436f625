import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createKey } from '../../plugins/stores/postgres/keys/create-key';
import { DEMO_EMAIL } from '../../plugins/stores/postgres/customers/join-customer';
import { type BenchStores, NO_LIMIT, withBenchStores } from './support/bench-stores';
import { createProofKeys } from '../support/proof-keys';
import { cpuMicros, measure, start } from './support/load';

// What tracing costs: CPU time a request in plugin server and service, off and at three ratios. The service is
// the smallest there is, so that nothing hides the cost. Rounds alternate between them, because a shared machine is not steady.
// Run: npm run build && node dist/test/bench/tracing.js [seconds] [rounds]

const SECONDS = Number(process.argv[2] ?? 2);
const ROUNDS = Number(process.argv[3] ?? 6);
const project = resolve(__dirname, '../../..');
const proof = createProofKeys();

interface Node {
  readonly name: string;
  readonly base: string;
  readonly pids: Readonly<Record<'plugin' | 'service', number>>;
  readonly costs: number[];
}

interface Shared {
  readonly folder: string;
  readonly env: Record<string, string>;
}

async function startNode(name: string, { folder, env }: Shared, tracing: Record<string, string>): Promise<Node> {
  const file = name.replace(/\W/g, '');
  const socket = join(folder, `${file}.sock`);
  const common = {
    ...env,
    ...tracing,
    TOLLGATE_CONTEXT_PRIVATE_KEY: proof.privateKey,
    TOLLGATE_CONTEXT_JWKS: proof.keySet,
    LOG_LEVEL: 'error',
  };
  const plugin = await start('plugins/server/main.js', [], { ...common, PLUGIN_SOCKET: socket, METRICS_PORT: '0' });
  const ports = { SERVICE_PORT: '0', PRIVATE_PORT: '0' };
  const service = await start('services/main.js', ['--service', 'vahaan'], { ...common, ...ports });
  const { services } = JSON.parse(service.line) as { services: { vahaan: string } };
  const plugins = [{ name: 'access-layer', config: { products: ['api-vahaan'] } }];
  const routes = [{ name: 'vahaan', paths: ['~/vahaan$'], strip_path: false }];
  const kongYml = join(folder, `${file}.yml`);
  writeFileSync(kongYml, JSON.stringify({ _format_version: '3.0', services: [{ name: 'vahaan', url: services.vahaan, routes, plugins }] }));
  const gateway = await start('kong/local/main.js', [
    '--port', '0', '--kong-yml', kongYml, '--kong-conf', join(project, 'kong/kong.conf'),
    '--plugin-info', join(project, 'kong/access-layer.json'), '--plugin-socket', socket,
  ]); // prettier-ignore
  const { port } = JSON.parse(gateway.line) as { port: number };
  return { name, base: `http://127.0.0.1:${port}`, pids: { plugin: plugin.pid, service: service.pid }, costs: [] };
}

function run(node: Node, key: string): void {
  const { plugin, service } = node.pids;
  const before = cpuMicros(plugin) + cpuMicros(service);
  const { requestsPerSecond } = measure({ name: node.name, url: `${node.base}/vahaan`, seconds: SECONDS, key, pids: node.pids });
  node.costs.push((cpuMicros(plugin) + cpuMicros(service) - before) / (requestsPerSecond * SECONDS));
}

/** Of the quieter half of the rounds, because neighbours on the machine only ever add to a cost. */
function quietMean(costs: readonly number[]): number {
  const quiet = [...costs].sort((a, b) => a - b).slice(0, Math.ceil(costs.length / 2));
  return quiet.reduce((sum, cost) => sum + cost, 0) / quiet.length;
}

async function main({ folder, db, databaseUrl, redisUrl }: BenchStores): Promise<void> {
  const limits = { daily: NO_LIMIT, monthly: NO_LIMIT };
  const { key } = await createKey(db, { customer: DEMO_EMAIL, products: ['api-vahaan'], actor: 'bench', mode: 'test', ...limits });
  const collector = await start('test/bench/support/stub-collector.js');
  const shared = { folder, env: { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } };
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.line}` };
  // Twice off: how far the two lie apart is what the machine itself adds.
  const nodes = [await startNode('off', shared, {}), await startNode('off again', shared, {})];
  for (const ratio of ['0.01', '0.05', '1']) {
    nodes.push(await startNode(`ratio ${ratio}`, shared, { ...endpoint, OTEL_TRACES_SAMPLER_ARG: ratio }));
  }
  for (let round = 0; round <= ROUNDS; round++) {
    // The first round warms up; each begins with another node.
    if (round === 1) for (const node of nodes) node.costs.length = 0;
    for (const index of nodes.keys()) {
      const node = nodes[(index + round) % nodes.length];
      if (node) run(node, key);
    }
  }
  const [off] = nodes;
  for (const { name, costs } of nodes) {
    const cost = quietMean(costs);
    console.log(`${name.padEnd(12)} CPU ${cost.toFixed(1)} µs/req, ${(cost / quietMean(off?.costs ?? [])).toFixed(3)} of off`);
  }
}

void withBenchStores(main);
