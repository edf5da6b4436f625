import { createSocket } from 'node:dgram';
import { type HttpExchange } from './http-exchange';

export interface UdpPlace {
  host: string;
  port: number;
}

/** nginx's status for a client that left before the response. */
const CLIENT_LEFT = 499;

export interface AnswerTeller {
  /** @param status of the response that the client was sent, if it is not the response object's own */
  tell(exchange: HttpExchange, status?: number): void;
  close(): void;
}

/**
 * Reports each response to the plugin server, like nginx with our kong.conf: one datagram, which may be lost, and for which no request
 * waits.
 */
export function createAnswerTeller(place: UdpPlace): AnswerTeller {
  const socket = createSocket(place.host.includes(':') ? 'udp6' : 'udp4');
  socket.unref();
  socket.on('error', () => undefined);
  return {
    tell(exchange, status = exchange.response.headersSent ? exchange.response.statusCode : CLIENT_LEFT) {
      const { id, startedAt, answerBytes, isFromService, units = '-' } = exchange;
      const elapsedMs = Date.now() - startedAt;
      const line = `tg: ${id} ${status} ${elapsedMs} ${answerBytes} ${isFromService ? elapsedMs : '-'} units=${units}`;
      socket.send(line, place.port, place.host, () => undefined);
    },
    close: () => socket.close(),
  };
}
