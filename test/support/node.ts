import { type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endProgram, startProgram } from './program';

export interface NodeOptions {
  databaseUrl: string;
  redisUrl?: string;
  /** As customers see it. */
  name?: string;
  signingKeys: string;
  /** By kong.yml service name. */
  upstreams: Readonly<Record<string, string>>;
}

/** One more gateway with its own plugin server, on stores and services that exist. */
export interface GatewayNode {
  readonly gateway: string;
  readonly pluginServer: ChildProcess;
  stop(): Promise<void>;
}

export async function startNode(options: NodeOptions): Promise<GatewayNode> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-node-'));
  const socket = join(folder, 'plugin.sock');
  const pluginServer = await startProgram('plugins/server/main.js', {
    DATABASE_URL: options.databaseUrl,
    REDIS_URL: options.redisUrl ?? '',
    TOLLGATE_SIGNING_KEYS: options.signingKeys,
    PLUGIN_SOCKET: socket,
    NODE_NAME: options.name ?? '',
  });
  const gateway = await startProgram('kong/local/main.js', {
    GATEWAY_PORT: '0',
    PLUGIN_SOCKET: socket,
    UPSTREAM_OVERRIDES: JSON.stringify(options.upstreams),
  });
  return {
    gateway: `http://127.0.0.1:${String(gateway.ready['port'])}`,
    pluginServer: pluginServer.child,
    async stop() {
      await endProgram(gateway.child);
      await endProgram(pluginServer.child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
