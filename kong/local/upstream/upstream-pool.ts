import { UpstreamConnection } from './upstream-connection';
import { type UpstreamAddress } from './upstream-tls';

/** Kong keeps an idle connection for 60 s and 512 of them (upstream_keepalive_idle_timeout, upstream_keepalive_pool_size). */
const IDLE_MS = 60_000;
const MAX_IDLE = 512;
/** A service that says "I keep connections N seconds" may close one while our request is on its way; we stop a second earlier. */
const IDLE_MARGIN_MS = 1000;

/** Keep-alive connections to one service. */
export class UpstreamPool {
  private readonly idle: UpstreamConnection[] = [];
  private readonly open = new Set<UpstreamConnection>();
  private retired = false;

  constructor(private readonly target: UpstreamAddress & { readonly connectTimeoutMs: number }) {}

  /** The connection used last, or a new one that is still connecting: what is written to it waits. */
  take(): UpstreamConnection {
    for (let connection = this.idle.pop(); connection !== undefined; connection = this.idle.pop()) {
      if (connection.socket.writable && !connection.socket.destroyed) return connection;
    }
    return this.fresh();
  }

  /** A new connection whatever is idle: for a retry after a reused one turned out to be closed. */
  fresh(): UpstreamConnection {
    const connection = new UpstreamConnection(
      this.target,
      (gone) => this.forget(gone),
      (ready, keepAliveMs) => this.giveBack(ready, keepAliveMs),
    );
    this.open.add(connection);
    return connection;
  }

  /** Lets what is under way end, and keeps nothing after it. */
  retire(): void {
    this.retired = true;
    for (const connection of [...this.idle]) connection.destroy();
  }

  close(): void {
    for (const connection of this.open) connection.destroy();
  }

  private giveBack(connection: UpstreamConnection, keepAliveMs = IDLE_MS + IDLE_MARGIN_MS): void {
    const idleMs = Math.min(IDLE_MS, keepAliveMs - IDLE_MARGIN_MS);
    if (this.retired || this.idle.length >= MAX_IDLE || idleMs <= 0) {
      connection.destroy();
      return;
    }
    connection.setTimeout(idleMs);
    this.idle.push(connection);
  }

  private forget(connection: UpstreamConnection): void {
    this.open.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
  }
}
