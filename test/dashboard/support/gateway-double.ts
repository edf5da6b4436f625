import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { serve } from '../../support/http';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Stands where the gateway is, and answers as a test says. */
export interface GatewayDouble {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** How it answers; 200 with `{}` unless replaced. */
  answer: (request: SeenRequest, response: ServerResponse) => void;
  close(): Promise<void>;
}

const usual: GatewayDouble['answer'] = (_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'X-Kong-Request-Id': '0123456789abcdef0123456789abcdef' }).end('{}');
};

async function read(request: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) };
}

export async function startGatewayDouble(): Promise<GatewayDouble> {
  const seen: SeenRequest[] = [];
  const { url, close } = await serve((request, response) => {
    response.on('error', () => undefined);
    read(request).then(
      (whole) => {
        seen.push(whole);
        double.answer(whole, response);
      },
      () => response.destroy(),
    );
  });
  const double: GatewayDouble = { url, seen, answer: usual, close };
  return double;
}
