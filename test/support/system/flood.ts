import { connect, type Socket } from 'node:net';

export interface FloodOptions {
  readonly requests: number;
  /** How many connections share them; each sends a few ahead of the answers. */
  readonly connections: number;
  /** Header lines of a request, each with its line end. */
  readonly headers: (index: number) => string;
}

/** Requests on their way on one connection. */
const PIPELINED = 8;
const STATUS = /HTTP\/1\.1 (\d{3}) /g;
/** One less than what the pattern matches: the start of a status that the next piece completes. */
const CARRIED = 'HTTP/1.1 200'.length;

/** Sends many requests from one process, cheaply, and counts the answers by status. @throws Error when a connection breaks */
export async function flood(url: string, { requests, connections, headers }: FloodOptions): Promise<Map<number, number>> {
  const { hostname, port, pathname } = new URL(url);
  const statuses = new Map<number, number>();
  let next = 0;
  const run = (): Promise<void> =>
    new Promise((done, fail) => {
      const socket: Socket = connect(Number(port), hostname);
      let open = 0;
      const sendMore = (): void => {
        let text = '';
        for (; open < PIPELINED && next < requests; open++)
          text += `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\n${headers(next++)}\r\n`;
        if (text !== '') socket.write(text);
        else if (open === 0) socket.end();
      };
      socket.on('connect', sendMore);
      socket.on('error', fail);
      socket.on('close', () => (open === 0 ? done() : fail(new Error(`a connection was closed with ${open} requests unanswered`))));
      let rest = '';
      socket.on('data', (chunk: Buffer) => {
        rest += chunk.toString('latin1');
        for (const [, status] of rest.matchAll(STATUS)) {
          statuses.set(Number(status), (statuses.get(Number(status)) ?? 0) + 1);
          open--;
        }
        rest = rest.slice(-CARRIED);
        sendMore();
      });
    });
  await Promise.all(Array.from({ length: connections }, run));
  return statuses;
}
