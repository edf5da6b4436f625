import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, ServerResponse, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Duplex } from 'node:stream';
import { type GatewayConfig, loadConfig } from './config/kong-yml';
import { ConfigError } from './config/config-error';
import { Dispatcher, type Arrival } from './dispatcher';
import { HeaderList } from './http/header-list';
import { type HttpExchange } from './http/http-exchange';
import { type ReadOn } from '../../plugins/core/problems';
import { loadKongConf, type KongConf } from './config/kong-conf';
import { type WriteLog } from './log';
import { PluginClient } from './plugin/plugin-client';
import { loadPluginInfo, type PluginInfo } from './config/plugin-info';
import { MAX_HEADER_BYTES, statusOfParserError } from './http/request-limits';
import { createAnswerTeller, type UdpPlace } from './http/tell-answer';
import { headWithoutUpgrade } from './upstream/upgrade';
import { isWebSocket } from './upstream/upstream-request';

export interface LocalGatewayOptions {
  kongYmlPath: string;
  kongConfPath: string;
  /** The output of Kong's query command: `kong/access-layer.json`. */
  pluginInfoPath: string;
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** Addresses that replace a service's `url`, by service name: embedded runs start their services on free ports. */
  upstreamOverrides?: Readonly<Record<string, string>>;
  /** Replaces kong.conf's `pluginserver_<name>_socket`. */
  pluginSocket?: string;
  /** Replaces the address of kong.conf's `nginx_proxy_access_log`. */
  answersTo?: UdpPlace | undefined;
  /** Addresses of explaining pages, added to the templates of kong.conf like those that `npx tollgate gateway kong` writes. */
  readOn?: ReadOn;
  log: WriteLog;
  /** Maximum wait for the plugin server. Kong's 60 s unless a test shortens it. */
  pluginTimeoutMs?: number;
  /** The parent folder for bodies over the buffer size. Default: the system's temporary folder. */
  tempDir?: string;
  /** Replaces nginx's client_header_timeout, 60 s, and kong.conf's client_body_timeout. */
  clientTimeoutMs?: number;
}

export interface LocalGateway {
  /** Rejects when the port is not available. */
  listen(): Promise<{ port: number; digest: string }>;
  /**
   * Reads kong.yml again. Running requests are not affected.
   * @throws ConfigError if it cannot be used; then nothing changes
   */
  reload(): { digest: string };
  /** Accepts no new connections, lets running requests end for `graceMs`, then cuts the rest. */
  close(options: { graceMs: number }): Promise<void>;
}

const NGINX_TIMEOUT_MS = 60_000;
const SWEEP_MS = 50;
/** nginx's keepalive_timeout. */
const KEEP_ALIVE_MS = 75_000;

/**
 * A stand-in for Kong 3.9 on a developer's machine and in CI. Throws ConfigError when kong.yml or kong.conf contain anything that it does
 * not implement. Not for production: one process, no TLS.
 */
export function createLocalGateway(options: LocalGatewayOptions): LocalGateway {
  const conf = loadKongConf(options.kongConfPath, options.readOn);
  const plugins = loadPluginInfo(options.pluginInfoPath);
  const readConfig = (): GatewayConfig => {
    const config = loadConfig({
      kongYmlPath: options.kongYmlPath,
      plugins,
      authorities: conf.authorities,
      ...(options.upstreamOverrides === undefined ? {} : { upstreamOverrides: options.upstreamOverrides }),
    });
    const grpc = new Set(config.routes.filter((route) => route.isGrpc).map(({ service }) => service.name));
    if (grpc.size > 0) options.log('warn', 'this gateway passes no gRPC on: put Kong in front of these services', { services: [...grpc] });
    return config;
  };
  const config = readConfig();
  if (conf.ignored.length > 0) options.log('info', 'kong.conf properties without a meaning here', { properties: conf.ignored });
  const spoolDir = mkdtempSync(join(options.tempDir ?? tmpdir(), 'tollgate-gateway-'));
  const clientTimeoutMs = options.clientTimeoutMs ?? NGINX_TIMEOUT_MS;
  const pluginClient = new PluginClient({
    socketPath: options.pluginSocket ?? onlySocket(conf, plugins, options.kongConfPath),
    timeoutMs: options.pluginTimeoutMs ?? NGINX_TIMEOUT_MS,
    context: { variables: conf.variables, log: options.log },
  });
  const limits = {
    maxBytes: conf.maxBodyBytes,
    bufferBytes: conf.bodyBufferBytes,
    spoolDir,
    readTimeoutMs: options.clientTimeoutMs ?? conf.bodyTimeoutMs,
    uploadTimeoutMs: options.clientTimeoutMs ?? conf.uploadTimeoutMs,
  };
  const answersTo = options.answersTo ?? conf.answersTo;
  const answerTeller = answersTo && createAnswerTeller(answersTo);
  const dispatcher = new Dispatcher({ conf, routes: config.routes, limits, pluginClient, answerTeller, log: options.log });
  return new GatewayServer(options, { dispatcher, pluginClient, spoolDir, clientTimeoutMs, readConfig, digest: config.digest });
}

interface GatewayParts {
  dispatcher: Dispatcher;
  pluginClient: PluginClient;
  spoolDir: string;
  clientTimeoutMs: number;
  readConfig: () => GatewayConfig;
  /** Digest of the kong.yml that it started with. */
  digest: string;
}

class GatewayServer implements LocalGateway {
  private readonly server: Server;
  private readonly sockets = new Set<Duplex>();
  /** The latest request begun on each connection. */
  private readonly current = new WeakMap<Duplex, HttpExchange>();

  constructor(
    private readonly options: LocalGatewayOptions,
    private readonly parts: GatewayParts,
  ) {
    this.server = createServer({
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: parts.clientTimeoutMs,
      // A whole request may take as long as the client keeps sending: each pause has its own limit.
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(30_000, parts.clientTimeoutMs),
      requireHostHeader: false,
      noDelay: true,
    });
    // Headers beyond Node's default count would silently be dropped.
    this.server.maxHeadersCount = 0;
    this.server.on('connection', (socket) => this.track(socket));
    this.server.on('request', (request, response) => this.handle(request, response));
    this.server.on('checkContinue', (request, response) => this.handle(request, response, { expectsContinue: true }));
    // nginx ignores any other expectation.
    this.server.on('checkExpectation', (request, response) => this.handle(request, response));
    this.server.on('upgrade', (request: IncomingMessage, socket: Duplex, early: Buffer) => {
      this.afterEarlier(socket, () => this.upgrade(request, socket as Socket, early));
    });
    this.server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
      this.afterEarlier(socket, () => this.sendRefusal(socket, 400));
    });
    this.server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Duplex) => this.refuse(error, socket));
  }

  listen(): Promise<{ port: number; digest: string }> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(this.options.port, this.options.host, () => {
        this.server.off('error', reject);
        resolve({ port: (this.server.address() as AddressInfo).port, digest: this.parts.digest });
      });
    });
  }

  reload(): { digest: string } {
    const { routes, digest } = this.parts.readConfig();
    this.parts.dispatcher.use(routes);
    return { digest };
  }

  async close({ graceMs }: { graceMs: number }): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.parts.dispatcher.drain();
    // A request that was arriving before the drain leaves an idle connection after its response.
    const sweep = setInterval(() => this.server.closeIdleConnections(), SWEEP_MS);
    this.server.closeIdleConnections();
    const cut = setTimeout(() => {
      for (const socket of this.sockets) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(cut);
    clearInterval(sweep);
    this.parts.dispatcher.close();
    this.parts.pluginClient.close();
    rmSync(this.parts.spoolDir, { recursive: true, force: true });
  }

  private handle(request: IncomingMessage, response: ServerResponse, arrival?: Arrival): void {
    this.current.set(request.socket, this.parts.dispatcher.handle(request, response, arrival));
  }

  private track(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
  }

  /**
   * Node releases a socket as soon as it has read such a request, and removes its own listeners. Responses to earlier requests may still be
   * pending on the same connection: they come first.
   */
  private afterEarlier(socket: Duplex, proceed: () => void): void {
    socket.on('error', () => socket.destroy());
    const earlier = this.current.get(socket)?.response;
    // A response is detached shortly after it was written, and one that waits in line is not attached yet.
    if (earlier === undefined || (earlier.writableFinished && earlier.socket === null)) {
      proceed();
      return;
    }
    const onDrain = (): void => void earlier.emit('drain');
    socket.on('drain', onDrain);
    earlier.once('finish', () => {
      socket.off('drain', onDrain);
      if (socket.writable) proceed();
    });
  }

  /** Node takes every upgrade request out of its parser; those that do not ask for a WebSocket are put back. */
  private upgrade(request: IncomingMessage, socket: Socket, early: Buffer): void {
    if (!isWebSocket({ headers: HeaderList.fromRaw(request.rawHeaders) })) {
      socket.setTimeout(0);
      socket.unshift(Buffer.concat([headWithoutUpgrade(request), early]));
      this.server.emit('connection', socket);
      return;
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    socket.on('drain', () => response.emit('drain'));
    response.on('finish', () => socket.end());
    this.parts.dispatcher.handle(request, response, { tunnel: { client: socket, early } });
  }

  private refuse(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Duplex): void {
    // nginx closes a connection without a response if its headers are late. A reset connection has no reader.
    if (!socket.writable || error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const status = statusOfParserError(error.code, error.rawPacket);
    const current = this.current.get(socket);
    if (current === undefined || current.response.writableFinished) {
      // Input after a response that closes its connection is ignored.
      if (current?.response.shouldKeepAlive !== false) this.sendRefusal(socket, status);
      return;
    }
    // Garbage inside a body ends its request. After a complete request it waits for that request's response.
    if (current.request.complete) current.response.once('finish', () => this.sendRefusal(socket, status));
    else current.body.breakOff();
  }

  private sendRefusal(socket: Duplex, status: number): void {
    socket.end(this.parts.dispatcher.refusal(status), 'latin1');
    // Further input from the client is ignored, but must not keep the connection open.
    setTimeout(() => socket.destroy(), 1000).unref();
  }
}

/** The local gateway uses one plugin server: the one that declares our plugin. */
function onlySocket(conf: KongConf, plugins: ReadonlyMap<string, PluginInfo>, file: string): string {
  const sockets = [...conf.pluginSockets.values()];
  const [socket] = sockets;
  if (socket === undefined || sockets.length > 1) {
    throw new ConfigError(file, [
      `pluginserver_names: exactly one plugin server (for ${[...plugins.keys()].join(', ')}) is needed, found ${String(sockets.length)}`,
    ]);
  }
  return socket;
}
