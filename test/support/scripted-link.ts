import { type AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export type Frame = Record<string, any>;

/** A small PNG, as a captcha. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

/** An upstream link that does what a test says. */
export interface ScriptedLink {
  readonly url: string;
  readonly port: number;
  /** Every message received, in order. */
  readonly received: Frame[];
  /** Headers of every handshake. */
  readonly handshakes: Record<string, unknown>[];
  readonly sockets: Set<WebSocket>;
  /** Breaks every connection. */
  drop(): void;
  close(): Promise<void>;
}

type Script = (frame: Frame, say: (answer: Frame | string) => void, socket: WebSocket) => void;

/** @param options.autoPong false plays dead: pings are not answered */
export async function startScriptedLink(script: Script, options: { port?: number; autoPong?: boolean } = {}): Promise<ScriptedLink> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: options.port ?? 0, autoPong: options.autoPong ?? true });
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  const { port } = server.address() as AddressInfo;
  const received: Frame[] = [];
  const handshakes: Record<string, unknown>[] = [];
  server.on('connection', (socket, request) => {
    handshakes.push(request.headers);
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame;
      received.push(frame);
      script(frame, (answer) => socket.send(typeof answer === 'string' ? answer : JSON.stringify(answer)), socket);
    });
  });
  const drop = (): void => {
    for (const socket of server.clients) socket.terminate();
  };
  return {
    url: `ws://127.0.0.1:${port}`,
    port,
    received,
    handshakes,
    sockets: server.clients,
    drop,
    close: () => {
      drop();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A script that opens sessions `up-1`, `up-2`, … and answers everything else as it is told. */
export function openingSessions(otherwise: (frame: Frame, say: (answer: Frame | string) => void) => void) {
  let sessions = 0;
  return (frame: Frame, say: (answer: Frame | string) => void): void => {
    if (frame.type === 'start') say({ type: 'captcha', requestId: frame.requestId, sessionId: `up-${++sessions}`, captcha: PIXEL });
    else otherwise(frame, say);
  };
}
