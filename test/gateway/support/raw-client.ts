import { connect } from 'node:net';

/** Sends bytes as they are and returns everything that came back until the peer closed (or, if `until` matches, until then). */
export function exchangeRaw(port: number, bytes: string | Buffer, until?: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    const chunks: Buffer[] = [];
    const finish = (): void => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString('latin1'));
    };
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (until?.test(Buffer.concat(chunks).toString('latin1')) === true) finish();
    });
    socket.on('end', finish).on('close', finish);
    socket.on('error', (error) => (chunks.length > 0 ? finish() : reject(error)));
  });
}

/** Splits one HTTP answer. */
export function splitAnswer(text: string): { status: number; head: string; headers: Map<string, string>; body: string } {
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end);
  const headers = new Map<string, string>();
  for (const line of head.split('\r\n').slice(1))
    headers.set(line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2));
  return { status: Number(head.slice(9, 12)), head, headers, body: text.slice(end + 4) };
}

export async function get(port: number, path: string, headers: Record<string, string> = {}): Promise<ReturnType<typeof splitAnswer>> {
  const lines = Object.entries({ Host: 'gw.test', Connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return splitAnswer(await exchangeRaw(port, `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`));
}
