import { PluginConnection, type ConnectionWatcher } from './plugin-connection';

/**
 * Maximum simultaneous connections to the plugin server. A unix socket's accept queue is short (511 in Node) and refuses at once when full,
 * so a larger burst waits for its turn instead of failing.
 */
const MAX_OPEN = 256;
/** Maximum further connections that wait for a client's body. They ask the server for nothing, and must not delay others. */
const MAX_WAITING = 1024;

export interface PluginPoolOptions {
  socketPath: string;
  /** Maximum wait for the server's next bytes, and for a free connection. */
  timeoutMs: number;
}

interface Waiter {
  take: (connection: PluginConnection | undefined) => void;
  timer: NodeJS.Timeout;
}

/** Keep-alive connections to the plugin server, most recently used first. */
export class PluginPool {
  private readonly idle: PluginConnection[] = [];
  private readonly open = new Set<PluginConnection>();
  private readonly waiting: Waiter[] = [];
  /** Connections that wait for a body. */
  private readonly parked = new Set<PluginConnection>();
  private readonly watcher: ConnectionWatcher = {
    idle: (connection) => this.giveBack(connection),
    gone: (connection) => this.forget(connection),
    waits: (connection, isWaiting) => this.park(connection, isWaiting),
  };
  private closed = false;

  constructor(private readonly options: PluginPoolOptions) {}

  /** `use` gets undefined if no connection became free in time. */
  take(use: (connection: PluginConnection | undefined) => void): void {
    const idle = this.idle.pop();
    if (idle !== undefined) use(idle);
    else if (this.closed) use(undefined);
    else if (this.hasRoom) use(this.connect());
    else this.wait(use);
  }

  close(): void {
    this.closed = true;
    for (const connection of this.open) connection.destroy();
    for (const waiter of this.waiting.splice(0)) this.serve(waiter, undefined);
  }

  private get hasRoom(): boolean {
    return this.open.size - Math.min(this.parked.size, MAX_WAITING) < MAX_OPEN;
  }

  private connect(): PluginConnection {
    const connection = new PluginConnection(this.options, this.watcher);
    this.open.add(connection);
    return connection;
  }

  private wait(take: Waiter['take']): void {
    const waiter: Waiter = {
      take,
      timer: setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(waiter), 1);
        take(undefined);
      }, this.options.timeoutMs),
    };
    this.waiting.push(waiter);
  }

  private giveBack(connection: PluginConnection): void {
    const waiter = this.waiting.shift();
    // The connection is still inside its last call, so the next call starts in a later turn of the event loop.
    if (waiter === undefined) this.idle.push(connection);
    else setImmediate(() => this.serve(waiter, connection));
  }

  private park(connection: PluginConnection, isWaiting: boolean): void {
    if (!isWaiting) {
      this.parked.delete(connection);
      return;
    }
    this.parked.add(connection);
    this.serveNext();
  }

  private forget(connection: PluginConnection): void {
    this.open.delete(connection);
    this.parked.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    this.serveNext();
  }

  private serveNext(): void {
    if (this.closed || !this.hasRoom) return;
    const waiter = this.waiting.shift();
    if (waiter !== undefined) setImmediate(() => this.serve(waiter, this.connect()));
  }

  private serve(waiter: Waiter, connection: PluginConnection | undefined): void {
    clearTimeout(waiter.timer);
    waiter.take(connection);
  }
}
