import { Agent, type ClientRequest } from 'node:http';
import { isIP, connect as connectPlain, type Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { type UpstreamAddress } from '../config/kong-yml';

/** Kong keeps 512 idle connections, each for 60 s (upstream_keepalive_idle_timeout, upstream_keepalive_pool_size). */
const IDLE_MS = 60_000;
const MAX_IDLE = 512;

/** A service that sends unrequested data cannot be trusted with the next request. */
function cut(this: Socket): void {
  this.destroy();
}

/** The connections to one address, most recently used first. */
export class UpstreamAgent extends Agent {
  private isRetired = false;
  private secureContext: SecureContext | undefined;

  constructor(readonly address: UpstreamAddress) {
    super({ keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS });
  }

  /** Sends the host name (SNI) and speaks HTTP/1.1, like Kong. @throws Error when the authorities cannot be read */
  override createConnection(): Socket {
    const { host, port, tls } = this.address;
    if (!tls) return connectPlain({ host, port, noDelay: true });
    // Created once, because reading the system's certificates takes milliseconds.
    this.secureContext ??= createSecureContext(tls.authorities === undefined ? {} : { ca: tls.authorities });
    const { secureContext } = this;
    const name = isIP(host) === 0 ? { servername: host } : {};
    return connectTls({ host, port, ALPNProtocols: ['http/1.1'], secureContext, rejectUnauthorized: tls.verifies, ...name }).setNoDelay(
      true,
    );
  }

  /** @returns false for a socket that is not kept */
  override keepSocketAlive(socket: Duplex): boolean {
    const isKept: unknown = super.keepSocketAlive(socket);
    if (isKept === false || this.isRetired) return false;
    socket.on('data', cut);
    return true;
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    socket.off('data', cut);
    super.reuseSocket(socket, request);
  }

  /** Running requests end normally, and no connection is kept afterwards. */
  retire(): void {
    this.isRetired = true;
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}
