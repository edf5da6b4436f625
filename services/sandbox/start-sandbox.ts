import { createSocket, type Socket } from 'node:dgram';
import { type IncomingMessage } from 'node:http';
import { type AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { NO_JSON_SCHEMAS } from '../kit/no-json-schemas';
import { type SandboxUpstream } from './sandbox-upstream';

export interface Sandbox {
  readonly host: string;
  /** TCP and UDP. */
  readonly port: number;
  readonly url: string;
  /** Ends every connection, whether it got a response or not. */
  close(): Promise<void>;
}

type WebSocketHandler = (socket: WebSocket, request: IncomingMessage) => void;

export interface SandboxOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly upstreams: readonly SandboxUpstream[];
}

/** The HTTP side: each upstream below its name, the documentation at `/`. */
function createSandboxApp(upstreams: readonly SandboxUpstream[]): FastifyInstance {
  const app = Fastify({ ...NO_JSON_SCHEMAS, forceCloseConnections: true, routerOptions: { maxParamLength: 1_000 } });
  const examples = upstreams.flatMap((upstream) => upstream.examples);
  app.get('/', () => examples);
  for (const { name, routes } of upstreams) {
    if (!routes) continue;
    void app.register(
      (scope, _options, done) => {
        routes(scope);
        done();
      },
      { prefix: `/${name}` },
    );
  }
  return app;
}

function serveWebSockets(app: FastifyInstance, upstreams: readonly SandboxUpstream[]): WebSocketServer {
  const server = new WebSocketServer({ noServer: true });
  const handlers = new Map<string, WebSocketHandler>(
    upstreams.flatMap(({ name, webSockets = {} }) =>
      Object.entries(webSockets).map(([path, handle]) => [`/${name}${path}`, handle] as const),
    ),
  );
  app.server.on('upgrade', (request, socket, head) => {
    const handle = handlers.get((request.url ?? '').split('?', 1)[0] ?? '');
    if (handle) server.handleUpgrade(request, socket, head, (webSocket: WebSocket) => handle(webSocket, request));
    else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  return server;
}

async function bindDatagrams(answer: (message: Buffer) => Buffer | undefined, address: { host: string; port: number }): Promise<Socket> {
  const socket = createSocket(address.host.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', (message, peer) => {
    const reply = answer(message);
    if (reply) socket.send(reply, peer.port, peer.address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(address.port, address.host, () => {
      socket.off('error', reject);
      // An unreachable client must not end the process.
      socket.on('error', () => undefined);
      resolve();
    });
  });
  return socket;
}

/** A free TCP port may have a UDP twin that is taken. Another port is chosen then. */
const TRIES = 5;

/** @throws when the port is taken */
export async function startSandbox(options: SandboxOptions, attempt = 1): Promise<Sandbox> {
  const { host, port: wanted, upstreams } = options;
  const app = createSandboxApp(upstreams);
  const webSockets = serveWebSockets(app, upstreams);
  await app.listen({ host, port: wanted });
  const { port } = app.server.address() as AddressInfo;
  const datagram = upstreams.find((upstream) => upstream.datagram)?.datagram;
  let socket: Socket | undefined;
  try {
    socket = datagram && (await bindDatagrams(datagram, { host, port }));
  } catch (error) {
    await app.close();
    if (wanted !== 0 || attempt >= TRIES) throw error;
    return startSandbox(options, attempt + 1);
  }
  return {
    host,
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    async close() {
      for (const client of webSockets.clients) client.terminate();
      socket?.close();
      await app.close();
    },
  };
}
