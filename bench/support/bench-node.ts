import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { formatSecrets, rotateSecrets } from '../../plugins/core/proof/product-keys';
import { start } from './load';

const project = resolve(__dirname, '../../..');
const secrets = formatSecrets(rotateSecrets([]).secrets);

export interface BenchNode {
  readonly base: string;
  /** Process ids of the gateway and the plugin server. */
  readonly pids: Record<string, number>;
}

interface BenchNodeOptions {
  /** Folder of its socket and configuration. */
  readonly folder: string;
  readonly name: string;
  /** URL that both routes lead to. */
  readonly service: string;
  readonly databaseUrl: string;
  /** Empty: PostgreSQL counts. */
  readonly redisUrl: string;
  /** Replaces the plugin server's usual environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One plugin server, and one gateway with a guarded and a bare route to the same service. */
export async function startBenchNode({ folder, name, service, databaseUrl, redisUrl, env }: BenchNodeOptions): Promise<BenchNode> {
  const socket = join(folder, `${name}.sock`);
  const plugin = await start('plugins/server/main.js', [], {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    TOLLGATE_CONTEXT_SECRETS: secrets,
    PLUGIN_SOCKET: socket,
    LOG_LEVEL: 'error',
    ...env,
  });
  const route = (path: string): object => ({ name: path, paths: [`~/${path}(?:/.*)?$`], strip_path: false });
  const kongYml = join(folder, `${name}.yml`);
  const services = [
    { name: 'bare', url: service, routes: [route('bare')] },
    { name: 'guarded', url: service, routes: [route('guarded')], plugins: [{ name: 'access-layer', config: { products: ['api-ip'] } }] },
  ];
  writeFileSync(kongYml, JSON.stringify({ _format_version: '3.0', services }));
  const gateway = await start('kong/local/main.js', [
    '--port', '0', '--kong-yml', kongYml, '--kong-conf', join(project, 'kong/kong.conf'),
    '--plugin-info', join(project, 'kong/access-layer.json'), '--plugin-socket', socket,
  ]); // prettier-ignore
  const { port } = JSON.parse(gateway.line) as { port: number };
  return { base: `http://127.0.0.1:${port}`, pids: { gateway: gateway.pid, plugin: plugin.pid } };
}
