import { connect, type Socket } from 'node:net';

export interface DriverOptions {
  socketPath: string;
  connections: number;
  events: number;
  /** Events before `onWarm` is called and the measurement begins. */
  warmUp: number;
  onWarm: () => void;
  /** True to write each reply in two pieces, as Kong does, instead of all in one: the server then reads more and smaller chunks. */
  asKongWrites: boolean;
}

/** Headers that a browser sends through a proxy, and a key: ten headers of usual length. */
export const requestHeaders = {
  host: 'api.example.com',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  accept: 'application/json, text/plain, */*',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-IN,en;q=0.9,hi;q=0.8',
  'x-api-key': 'tg_live_3kT9vQ2mZx7Rf1LpYw8HbN5cJd4Sg6AuEeKo',
  'x-forwarded-for': '203.0.113.7',
  'cache-control': 'no-cache',
  origin: 'https://www.example.com',
  referer: 'https://www.example.com/checkout/address',
};

function open(socketPath: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath, () => resolve(socket)).once('error', reject);
  });
}

/** The driver of one protocol, on one connection. */
interface Conversation {
  /** Writes the first event, and calls `onEnd` at the end of every event. */
  readonly begin: (socket: Socket, onEnd: () => void) => void;
  readonly next: (socket: Socket) => void;
}

/** Keeps all connections busy until `events` are done. @param prepare gets one of the connections before the first event */
export async function drive(
  { socketPath, connections, events, warmUp, onWarm }: DriverOptions,
  prepare: (socket: Socket) => Promise<Conversation>,
): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(socketPath)));
  const { begin, next } = await prepare(sockets[0] as Socket);
  await new Promise<void>((resolve) => {
    let started = sockets.length;
    let ended = 0;
    for (const socket of sockets)
      begin(socket, () => {
        ended++;
        if (ended === warmUp) onWarm();
        if (started < events) {
          started++;
          next(socket);
        } else if (ended === events) resolve();
      });
  });
  for (const socket of sockets) socket.destroy();
}
