import { createServer, type Server } from 'node:net';
import { type PluginModule } from '../core/access/kong-pdk';
import { KongConnection, type ConnectionContext, type Counters } from './kong-connection';
import { defaultMaxFrameBytes } from './wire/frames';
import { Instances } from './instances';
import { type ServerLog } from './log';
import { checkPlace, nameBeside, placeSocket } from './socket-place';
import { type InstanceDirectory } from './workers/instance-directory';

export interface PluginServerOptions {
  plugin: PluginModule;
  /** Path to which Kong connects. Its directory is made when missing. */
  socketPath: string;
  /** Path at which a worker binds together with the others. The parent moves the socket to Kong's path. */
  bindAt?: string | undefined;
  /** Finds the instances that Kong started on other workers. */
  directory?: InstanceDirectory | undefined;
  log: ServerLog;
  /** An event that takes longer is refused with 503. Default 5000: Kong itself would wait 60 s. */
  eventDeadlineMs?: number;
  /** The same limit while Kong waits for the client's body. Default 30000. */
  bodyDeadlineMs?: number;
  /** Default 64 MiB. */
  maxFrameBytes?: number;
}

export interface PluginServerStats extends Counters {
  connections: number;
  /** Events that are running. */
  running: number;
  instances: number;
}

export interface PluginServer {
  /** @throws Error when another server responds on the socket, or the path is something else */
  listen(): Promise<void>;
  /**
   * Takes no more connections, though the path stays for the next server. Lets running events end for at most `graceMs`, refuses the rest
   * with 503 and ends every connection.
   */
  close(options: { graceMs: number }): Promise<void>;
  stats(): PluginServerStats;
}

/** Serves one plugin to Kong over the ProtoBuf:1 protocol. Nothing that a peer sends can end the process. */
export function createPluginServer(options: PluginServerOptions): PluginServer {
  const { plugin, log, socketPath } = options;
  const context: ConnectionContext = {
    plugin,
    log,
    instances: new Instances({ plugin, log, directory: options.directory }),
    eventDeadlineMs: options.eventDeadlineMs ?? 5000,
    bodyDeadlineMs: options.bodyDeadlineMs ?? 30_000,
    maxFrameBytes: options.maxFrameBytes ?? defaultMaxFrameBytes,
    startedAt: Math.floor(Date.now() / 1000),
    counters: { events: 0, failed: 0, overdue: 0, abandoned: 0, protocolErrors: 0 },
  };
  const connections = new Set<KongConnection>();
  const server = createServer((socket) => {
    const connection = new KongConnection(socket, context);
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  });

  return {
    async listen() {
      if (options.bindAt === undefined) {
        await checkPlace(socketPath);
        const beside = nameBeside(socketPath);
        await bind(server, beside);
        placeSocket(beside, socketPath);
      } else await bind(server, options.bindAt);
      server.on('error', (error) => log.error({ err: error }, 'the plugin socket failed'));
      log.info({ socketPath, plugin: plugin.Name }, 'plugin server ready');
    },
    async close({ graceMs }) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of connections) connection.drain();
      const abort = setTimeout(() => {
        for (const connection of connections) connection.abort();
      }, graceMs);
      await closed;
      clearTimeout(abort);
    },
    stats() {
      let running = 0;
      for (const connection of connections) if (connection.isRunning) running++;
      return { ...context.counters, connections: connections.size, running, instances: context.instances.size };
    },
  };
}

function bind(server: Server, socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path: socketPath, backlog: 4096 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
