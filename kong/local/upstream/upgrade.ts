import { type IncomingMessage } from 'node:http';
import { type Duplex } from 'node:stream';
import { type GatewayAnswers, type Latencies } from '../http/answers';
import { isGatewaysToSay } from '../../../plugins/core/access/reserved-responses';
import { type HttpExchange } from '../http/http-exchange';

/** The response of a service that accepted a change of protocols, and its socket. */
export interface Upgrade {
  incoming: IncomingMessage;
  upstream: Duplex;
  latencies: Latencies;
}

export interface UpgradeParts extends Upgrade {
  exchange: HttpExchange;
  answers: GatewayAnswers;
  /** The client's socket, and the bytes that it sent right after its request. */
  client: Duplex;
  early: Buffer;
  /** nginx's proxy_read_timeout on an upgraded connection: a tunnel ends after this much silence. */
  idleMs: number;
}

/** Sends 101 to the client and joins both sockets until either side ends. Returns a function that cuts the tunnel. */
export function joinSockets(parts: UpgradeParts): () => void {
  const { client, upstream } = parts;
  client.write(switchingHead(parts), 'latin1');
  if (parts.early.length > 0) upstream.write(parts.early);
  const cut = (): void => {
    clearTimeout(timer);
    client.destroy();
    upstream.destroy();
  };
  const timer = setTimeout(cut, parts.idleMs);
  const alive = (): void => void timer.refresh();
  for (const side of [client, upstream]) side.on('error', cut).on('close', cut);
  client.on('data', alive);
  upstream.on('data', alive);
  client.pipe(upstream);
  upstream.pipe(client);
  return cut;
}

function switchingHead({ exchange, answers, incoming, latencies }: UpgradeParts): string {
  const fields: string[] = ['Connection', 'upgrade', 'Upgrade', 'websocket'];
  for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
    const name = incoming.rawHeaders[i] ?? '';
    const lower = name.toLowerCase();
    if (!/^(connection|upgrade|keep-alive|via)$/.test(lower) && !isGatewaysToSay(lower, () => false))
      fields.push(name, incoming.rawHeaders[i + 1] ?? '');
  }
  const hasServer = incoming.headers.server !== undefined;
  answers.addProxiedHeaders(fields, { id: exchange.id, latencies, hasServer, upstreamVia: undefined });
  let text = 'HTTP/1.1 101 Switching Protocols\r\n';
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i] ?? ''}: ${fields[i + 1] ?? ''}\r\n`;
  return `${text}\r\n`;
}

/**
 * The head of a request that offers a protocol other than WebSocket, without the offer, so that it gets its response in the present
 * protocol. Java's own client offers HTTP/2 in clear text by default.
 */
export function headWithoutUpgrade({ method = 'GET', url = '/', httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.toLowerCase() !== 'upgrade') head += `${name}: ${rawHeaders[i + 1] ?? ''}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}
