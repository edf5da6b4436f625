import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What a pooler in transaction mode does to a connection that listens. */
export interface Pooler {
  readonly url: string;
  /** Connections made through it so far. */
  connections(): number;
  close(): Promise<void>;
}

const NOTIFICATION = 'A'.charCodeAt(0);
const BACKEND_KEY = 'K'.charCodeAt(0);

/** Announces a process of its own and lets notifications get lost, as a server connection that nobody holds does. */
function rewrite(message: Buffer): Buffer {
  if (message[0] === NOTIFICATION) return Buffer.alloc(0);
  if (message[0] === BACKEND_KEY) message.writeInt32BE(0x7abc_def0, 5);
  return message;
}

function forwardMessages(from: Socket, to: Socket): void {
  let rest = Buffer.alloc(0);
  from.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      to.write(rewrite(Buffer.from(rest.subarray(0, end))));
      rest = rest.subarray(end);
    }
  });
}

/** @param url of the database, without TLS */
export async function openPooler(url: string): Promise<Pooler> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    connections++;
    const database = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
    client.pipe(database);
    forwardMessages(database, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    connections: () => connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
