import { UNITS_HEADER } from '../../../plugins/core/catalogue/units';
import { keepsConnection, type Answers, type Latencies } from '../http/answers';
import { type HttpExchange } from '../http/http-exchange';
import { type UpstreamHead } from './upstream-head';

/** Headers of a service's answer that belong to its connection, that the gateway writes itself, or that are for the gateway alone. */
const NOT_RETURNED = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-type', 'via', 'trailer'],
  UNITS_HEADER.toLowerCase(),
]);

/** What the service says its answer costs. Undefined without such a header; several are joined, as nginx does. */
export function unitsTold({ headers }: UpstreamHead): string | undefined {
  const values = headers.filter((_, index) => headers[index - 1]?.toLowerCase() === UNITS_HEADER.toLowerCase() && index % 2 === 1);
  return values.length === 0 ? undefined : values.join(', ');
}

/** The headers of a service's answer as the client gets them, in Kong's order; flat `[name, value, …]`. */
export function proxiedHead(parts: { exchange: HttpExchange; answers: Answers; head: UpstreamHead; latencies: Latencies }): string[] {
  const { exchange, answers, head, latencies } = parts;
  const fields = pickFields(head.headers);
  const out: string[] = [];
  if (fields.contentType !== undefined) out.push('Content-Type', fields.contentType);
  if (fields.contentLength !== undefined) out.push('Content-Length', fields.contentLength);
  const hasUnknownLength = head.framing.kind === 'chunked' || head.framing.kind === 'close';
  if (hasUnknownLength && exchange.httpVersion !== 1) out.push('Transfer-Encoding', 'chunked');
  const keep = keepsConnection(exchange) && !(hasUnknownLength && exchange.httpVersion === 1);
  out.push('Connection', keep ? 'keep-alive' : 'close');
  if (exchange.hasResponseHeaders) {
    exchange.responseHeaders.forEach((lower, value, name) => {
      if (!NOT_RETURNED.has(lower)) out.push(name, value);
    });
  }
  for (let i = 0; i < head.headers.length; i += 2) {
    const name = head.headers[i] ?? '';
    const lower = name.toLowerCase();
    if (!NOT_RETURNED.has(lower) && !head.connectionTokens.includes(lower)) out.push(name, head.headers[i + 1] ?? '');
  }
  answers.addProxiedHeaders(out, { id: exchange.id, latencies: latencies, hasServer: fields.hasServer, upstreamVia: fields.via });
  return out;
}

interface PickedFields {
  contentType: string | undefined;
  contentLength: string | undefined;
  via: string | undefined;
  hasServer: boolean;
}

function pickFields(headers: readonly string[]): PickedFields {
  const fields: PickedFields = { contentType: undefined, contentLength: undefined, via: undefined, hasServer: false };
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1] ?? '';
    switch (headers[i]?.toLowerCase()) {
      case 'content-type':
        fields.contentType = value;
        break;
      case 'content-length':
        fields.contentLength = value;
        break;
      case 'via':
        fields.via = fields.via === undefined ? value : `${fields.via}, ${value}`;
        break;
      case 'server':
        fields.hasServer = true;
        break;
      default:
    }
  }
  return fields;
}
