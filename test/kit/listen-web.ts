import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { type Dial } from '../../services/kit/upstream/pinned-connector';

export interface Web {
  readonly url: string;
  readonly asked: IncomingMessage[];
  /** Addresses that were dialled. */
  readonly dialled: string[];
  /** Takes whatever was judged public to this server: nothing leaves the machine. */
  readonly dial: Dial;
  close(): Promise<void>;
}

/** A server that answers as one test wants. */
export async function listenWeb(answer: (request: IncomingMessage, response: ServerResponse, url: URL) => unknown): Promise<Web> {
  const asked: IncomingMessage[] = [];
  const dialled: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response, new URL(request.url ?? '', `http://${request.headers.host}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    dialled,
    url: `http://127.0.0.1:${port}`,
    dial: (target, callback) => {
      dialled.push(target.hostname);
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => callback(null, socket)).once('error', (error) => callback(error, null));
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
