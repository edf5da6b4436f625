import { connect } from 'node:net';
import { connect as connectByTls } from 'node:tls';

/**
 * Sends bytes exactly as given on a connection of its own, by TLS to a URL of https and with no look at the certificate, for requests that no HTTP client would make.
 * @returns everything that came back until the other side closed, or until it was silent for half a second after an answer
 */
export function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const { protocol, hostname: host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const isByTls = protocol === 'https:';
    const socket = isByTls
      ? connectByTls({ host, port: Number(port), rejectUnauthorized: false })
      : connect({ host, port: Number(port || 80) });
    let text = '';
    let quiet: NodeJS.Timeout | undefined;
    const finish = (): void => {
      clearTimeout(quiet);
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer within 10 s')));
    socket.on(isByTls ? 'secureConnect' : 'connect', () => socket.write(bytes));
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      clearTimeout(quiet);
      quiet = setTimeout(finish, 500);
    });
    socket.on('end', finish);
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? finish() : reject(error),
    );
  });
}

/** The statuses of the answers in `text`, in order. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map((match) => Number(match[1]));
}

/** Header lines that ask for a WebSocket. */
export const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
