import { connect } from 'node:net';

/** Sends bytes as they are and returns everything that came back until the peer closed. */
export function exchangeRaw(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let text = '';
    const finish = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.on('end', finish).on('close', finish);
    socket.on('error', (error) => (text === '' ? reject(error) : finish()));
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
