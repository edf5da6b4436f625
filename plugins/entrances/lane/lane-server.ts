import { createServer } from 'node:net';
import { EntranceRoutes } from '../../access-layer/entrance-routes';
import { type EntranceLog } from '../../access-layer/gateway-question';
import { type PluginModule } from '../../core/access/kong-pdk';
import { type AccessInstance } from '../../core/access/verdict';
import { LaneConnection } from './lane-connection';
import { type LaneContext, TICK_MS } from './lane-context';

export interface LaneOptions {
  readonly plugin: PluginModule<AccessInstance>;
  /** A unix socket, whose permissions prove that a gateway asks. */
  readonly path: string;
  readonly log: EntranceLog;
  /** Receives responses to admitted requests, in lines (plugins/core/access/answer-line.ts). */
  readonly hear: (lines: string) => void;
}

/** Serves the Lua code of kong/lane: one frame asks about a request, one frame returns the verdict. */
export class LaneServer {
  private readonly connections = new Set<LaneConnection>();
  private readonly context: LaneContext;
  private readonly server = createServer((socket) => {
    const connection = new LaneConnection(socket, this.context);
    this.connections.add(connection);
    socket.on('close', () => this.connections.delete(connection));
  });
  private clock: NodeJS.Timeout | undefined;

  constructor(private readonly options: LaneOptions) {
    const { plugin, log, hear } = options;
    this.context = { routes: new EntranceRoutes(plugin, { takesForms: true }), log, readOn: plugin.readOn, hear, tick: 0 };
  }

  listen(): Promise<void> {
    this.clock = setInterval(() => {
      this.context.tick++;
      for (const connection of this.connections) connection.expire();
    }, TICK_MS).unref();
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ path: this.options.path, backlog: 4_096 }, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
  }

  /** Accepts no more connections, and ends once running questions have their verdict, after `graceMs` at the latest. */
  async close({ graceMs }: { graceMs: number }): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const connection of this.connections) connection.drain();
    const cut = setTimeout(() => this.connections.forEach((connection) => connection.abort()), graceMs);
    await closed;
    clearTimeout(cut);
    clearInterval(this.clock);
  }
}
