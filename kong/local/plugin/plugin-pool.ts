import { PluginConnection } from './plugin-connection';

/**
 * Connections to the plugin server at one time. A unix socket's queue of unaccepted connections is short (511 in Node) and a full one
 * refuses at once, so a burst beyond this waits for its turn instead of failing.
 */
const MAX_OPEN = 256;

export interface PluginPoolOptions {
  socketPath: string;
  /** Longest wait for the server's next bytes, and for a free connection. */
  timeoutMs: number;
}

interface Waiter {
  take: (connection: PluginConnection | undefined) => void;
  timer: NodeJS.Timeout;
}

/** Keep-alive connections to the plugin server, the one used last first. */
export class PluginPool {
  private readonly idle: PluginConnection[] = [];
  private readonly open = new Set<PluginConnection>();
  private readonly waiting: Waiter[] = [];
  private closed = false;

  constructor(private readonly options: PluginPoolOptions) {}

  /** `use` gets undefined when no connection became free in time. */
  take(use: (connection: PluginConnection | undefined) => void): void {
    const idle = this.idle.pop();
    if (idle !== undefined) use(idle);
    else if (this.closed) use(undefined);
    else if (this.open.size < MAX_OPEN) use(this.connect());
    else this.wait(use);
  }

  close(): void {
    this.closed = true;
    for (const connection of this.open) connection.destroy();
    for (const waiter of this.waiting.splice(0)) this.serve(waiter, undefined);
  }

  private connect(): PluginConnection {
    const connection = new PluginConnection(
      this.options,
      (ready) => this.giveBack(ready),
      (gone) => this.forget(gone),
    );
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
    // The connection is still inside its last call: the next one starts from a later turn of the loop.
    if (waiter === undefined) this.idle.push(connection);
    else setImmediate(() => this.serve(waiter, connection));
  }

  private forget(connection: PluginConnection): void {
    this.open.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    const waiter = this.closed ? undefined : this.waiting.shift();
    if (waiter !== undefined) setImmediate(() => this.serve(waiter, this.connect()));
  }

  private serve(waiter: Waiter, connection: PluginConnection | undefined): void {
    clearTimeout(waiter.timer);
    waiter.take(connection);
  }
}
