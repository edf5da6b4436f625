import { type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { smallHeapOptions } from '../../../cli/supervisor/plan';
import { send } from '../http';
import { endProgram, startProgram } from './program';
import { readMetric } from './read-metric';
import { newFolder } from '../run-folder';

export interface NodeOptions {
  databaseUrl: string;
  redisUrl?: string;
  /** As customers see it. */
  name?: string;
  /** Shared with the services; else `env` says what proofs are signed with. */
  signingKeys?: string;
  /** By kong.yml service name. */
  upstreams: Readonly<Record<string, string>>;
  /** Added to the environment of both processes. */
  env?: Readonly<Record<string, string>>;
  /** Arguments of Node for both processes. */
  nodeArgs?: readonly string[];
}

/** One more gateway with its own plugin server, on stores and services that exist. */
export interface GatewayNode {
  readonly gateway: string;
  readonly gatewayProcess: ChildProcess;
  readonly pluginServer: ChildProcess;
  readonly pluginSocket: string;
  /** What the plugin server answers at `/metrics`. */
  metrics(): Promise<string>;
  /** One figure of it, by its name with labels. */
  metric(name: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startNode(options: NodeOptions): Promise<GatewayNode> {
  const folder = newFolder();
  const socket = join(folder, 'plugin.sock');
  const nodeArgs = options.nodeArgs ?? [];
  const pluginServer = await startProgram('plugins/server/main.js', {
    nodeArgs,
    env: {
      DATABASE_URL: options.databaseUrl,
      REDIS_URL: options.redisUrl ?? '',
      TOLLGATE_SIGNING_KEYS: options.signingKeys ?? '',
      PLUGIN_SOCKET: socket,
      NODE_NAME: options.name ?? '',
      METRICS_PORT: '0',
      NODE_OPTIONS: smallHeapOptions(process.env),
      ...options.env,
    },
  });
  const gateway = await startProgram('kong/local/main.js', {
    nodeArgs,
    env: { GATEWAY_PORT: '0', PLUGIN_SOCKET: socket, UPSTREAM_OVERRIDES: JSON.stringify(options.upstreams), ...options.env },
  });
  const metricsUrl = `http://127.0.0.1:${String(pluginServer.ready['metrics'])}/metrics`;
  return {
    gateway: `http://127.0.0.1:${String(gateway.ready['port'])}`,
    gatewayProcess: gateway.child,
    pluginServer: pluginServer.child,
    pluginSocket: socket,
    metrics: async () => (await send(metricsUrl)).text,
    metric: (name) => readMetric(metricsUrl, name),
    async stop() {
      await endProgram(gateway.child);
      await endProgram(pluginServer.child);
    },
  };
}
