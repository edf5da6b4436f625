import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, renameSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { type PluginModule } from '../core/kong-pdk';
import { KongConnection, type ConnectionContext, type Counters } from './kong-connection';
import { defaultMaxFrameBytes } from './frames';
import { Instances } from './instances';
import { type ServerLog } from './log';

export interface PluginServerOptions {
  plugin: PluginModule;
  /** Where Kong connects; its directory is made when missing. */
  socketPath: string;
  log: ServerLog;
  /** An event that takes longer is refused with 503. Default 5000: Kong itself would wait 60 s. */
  eventDeadlineMs?: number;
  /** The same while Kong waits for the client's body. Default 30000. */
  bodyDeadlineMs?: number;
  /** Default 64 MiB. */
  maxFrameBytes?: number;
}

export interface PluginServerStats extends Counters {
  connections: number;
  /** Events that run at this moment. */
  running: number;
  instances: number;
}

export interface PluginServer {
  /** @throws Error when another server answers on the socket, or the path holds something else */
  listen(): Promise<void>;
  /** Takes no more connections, though the path stays for the next server; lets running events end for at most `graceMs`, refuses the rest with 503 and ends every connection. */
  close(options: { graceMs: number }): Promise<void>;
  stats(): PluginServerStats;
}

/** Kong and this server run as different users of one group. */
const socketMode = 0o660;
/** sizeof(sun_path) less its end: 108 bytes on Linux, 104 elsewhere. */
const maxPathBytes = process.platform === 'linux' ? 107 : 103;

/** Serves one plugin to Kong over the ProtoBuf:1 protocol. Nothing a peer sends ends the process. */
export function createPluginServer(options: PluginServerOptions): PluginServer {
  const { plugin, log, socketPath } = options;
  const context: ConnectionContext = {
    plugin,
    log,
    instances: new Instances({ plugin, log }),
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
      await checkPlace(socketPath);
      await bindInPlace(server, socketPath);
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

/** Makes the directory. @throws Error when the path is served, too long, or no socket */
async function checkPlace(socketPath: string): Promise<void> {
  if (Buffer.byteLength(socketPath) > maxPathBytes) throw new Error(`socket path longer than ${maxPathBytes} bytes: ${socketPath}`);
  mkdirSync(dirname(socketPath), { recursive: true });
  const found = lstatSync(socketPath, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw new Error(`${socketPath} exists and is not a socket`);
  if (await isServed(socketPath)) throw new Error(`another plugin server answers on ${socketPath}`);
}

/**
 * Binds beside the path and renames: a path that an earlier server left is replaced in one step, and stays when this server ends, because the
 * system removes the name that was bound. It is never missing between two servers; Kong's nginx would write the request line of everybody
 * who asks meanwhile, query included, to its error log.
 */
async function bindInPlace(server: Server, socketPath: string): Promise<void> {
  const beside = join(dirname(socketPath), `.p${randomBytes(3).toString('hex')}`);
  await bind(server, beside);
  chmodSync(beside, socketMode);
  renameSync(beside, socketPath);
}

function isServed(socketPath: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(socketPath);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false);
      else reject(error);
    });
  });
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
