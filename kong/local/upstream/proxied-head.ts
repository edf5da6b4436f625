import { type IncomingMessage } from 'node:http';
import { isGatewaysToSay } from '../../../plugins/core/access/reserved-responses';
import { UNITS_HEADER } from '../../../plugins/core/catalogue/units';
import { keepsConnection, type GatewayAnswers, type Latencies } from '../http/answers';
import { parseTokens } from '../http/header-list';
import { type HttpExchange } from '../http/http-exchange';

/** Response headers of a service that belong to its connection, or that the gateway writes itself. */
const NOT_RETURNED = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-type', 'via', 'trailer']);

/** The cost of a response as reported by the service. Undefined without such a header; repeated headers are joined, as in nginx. */
export function unitsTold({ headers }: IncomingMessage): string | undefined {
  const units = headers[UNITS_HEADER.toLowerCase()];
  return Array.isArray(units) ? units.join(', ') : units;
}

/** The headers of a service's response for the client, in Kong's order; flat `[name, value, …]`. */
export function proxiedHead(parts: {
  exchange: HttpExchange;
  answers: GatewayAnswers;
  incoming: IncomingMessage;
  latencies: Latencies;
}): string[] {
  const { exchange, answers, incoming, latencies } = parts;
  const { headers, rawHeaders } = incoming;
  const out: string[] = [];
  if (headers['content-type'] !== undefined) out.push('Content-Type', headers['content-type']);
  if (headers['content-length'] !== undefined) out.push('Content-Length', headers['content-length']);
  const hasUnknownLength = headers['content-length'] === undefined && hasBody(exchange, incoming);
  if (hasUnknownLength && exchange.httpVersion !== 1) out.push('Transfer-Encoding', 'chunked');
  const keep = keepsConnection(exchange) && !(hasUnknownLength && exchange.httpVersion === 1);
  out.push('Connection', keep ? 'keep-alive' : 'close');
  if (exchange.hasResponseHeaders) {
    exchange.responseHeaders.forEach((lower, value, name) => {
      if (!NOT_RETURNED.has(lower)) out.push(name, value);
    });
  }
  const ofConnection = parseTokens(headers.connection);
  const isSaid = (name: string): boolean => exchange.hasResponseHeaders && exchange.responseHeaders.get(name) !== undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const lower = name.toLowerCase();
    if (!NOT_RETURNED.has(lower) && !ofConnection.includes(lower) && !isGatewaysToSay(lower, isSaid))
      out.push(name, rawHeaders[i + 1] ?? '');
  }
  const hasServer = headers.server !== undefined;
  answers.addProxiedHeaders(out, { id: exchange.id, latencies, hasServer, upstreamVia: headers.via });
  return out;
}

function hasBody({ method }: HttpExchange, { statusCode }: IncomingMessage): boolean {
  return method !== 'HEAD' && statusCode !== 204 && statusCode !== 304;
}
