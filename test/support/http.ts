import {
  Agent,
  type ClientRequest,
  createServer,
  type IncomingHttpHeaders,
  request as httpRequest,
  type RequestListener,
  type Server,
} from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';
import { noteSecretsOf } from './used-secrets';

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** False when the body broke off or was not read to its end. */
  complete: boolean;
  /** The parsed body; throws when it is not JSON. */
  json(): any;
}

export interface Sending {
  method?: string;
  /** Pairs, so that a name can be repeated and its spelling kept. */
  headers?: readonly (readonly [string, string])[] | Readonly<Record<string, string>>;
  body?: string | Buffer;
  /** Whose connections are used; those of all tests unless given. */
  agent?: Agent | undefined;
  /** The address that it comes from, over a connection of its own. */
  from?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** What comes after this many bytes is not waited for: the start of a video tells enough. */
const MAX_BODY = 16 * 1024 * 1024;

/** Far beyond what any answer takes, also on a busy machine. */
const ANSWER_LIMIT_MS = 90_000;

/**
 * Milliseconds after which a connection is not used again. Node's servers close one that was idle for 5 s, and a test that was held up would
 * write into it: its request would fail without reaching anybody.
 */
const MAX_IDLE_MS = 2_000;

/** Keeps connections, as long as a server surely does. The agent's own `timeout` would bound the time to connect as well. */
export class KeepingAgent extends Agent {
  /** @param maxSockets to each server */
  constructor(maxSockets: number) {
    super({ keepAlive: true, maxSockets });
  }

  override keepSocketAlive(socket: Socket): boolean {
    const isKept = Boolean(super.keepSocketAlive(socket));
    socket.setTimeout(MAX_IDLE_MS);
    return isKept;
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    socket.setTimeout(0);
    super.reuseSocket(socket, request);
  }
}

const agent = new KeepingAgent(512);

/** Sends one request exactly as given; no redirect is followed and nothing is retried. */
export function send(url: string, { method = 'GET', headers = [], body, agent: own, from, signal }: Sending = {}): Promise<Reply> {
  const target = new URL(url);
  const pairs = Array.isArray(headers) ? (headers as readonly (readonly [string, string])[]) : Object.entries(headers);
  const host = pairs.some(([name]) => name.toLowerCase() === 'host') ? [] : [['Host', target.host]];
  const raw = [...host, ...pairs, ...(body === undefined ? [] : [['Content-Length', String(Buffer.byteLength(body))]])];
  return new Promise((resolve, reject) => {
    // The path is taken from the text: URL would normalise what a test wants sent as it is.
    const path = url.slice(url.indexOf(target.host) + target.host.length) || '/';
    noteSecretsOf({ path, headers: pairs, body });
    const { hostname, port } = target;
    const line = from === undefined ? { agent: own ?? agent } : { agent: false, localAddress: from };
    const options = { ...line, ...(signal && { signal }), host: hostname, port, method, path, headers: raw.flat() };
    const outgoing = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      let received = 0;
      const finish = (): void => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          complete: response.complete,
          json: () => JSON.parse(text) as Record<string, unknown>,
        });
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        received += chunk.length;
        if (received < MAX_BODY) return;
        finish();
        response.destroy();
      });
      // An answer that breaks off is an answer too; `complete` tells.
      response.on('error', finish);
      response.on('end', finish);
    });
    outgoing.on('error', reject);
    outgoing.setTimeout(ANSWER_LIMIT_MS, () => outgoing.destroy(new Error(`no answer in time: ${method} ${target.pathname}`)));
    outgoing.end(body);
  });
}

/** Closes idle connections, so that a test file leaves nothing open. */
export function closeConnections(): void {
  agent.destroy();
}

export interface TestServer {
  url: string;
  port: number;
  server: Server;
  close: () => Promise<void>;
}

/** A server on a free port of the loopback interface. */
export async function serve(handler: RequestListener): Promise<TestServer> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
