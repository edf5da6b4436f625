import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

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
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    read(request).then(
      (whole) => {
        seen.push(whole);
        double.answer(whole, response);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const double: GatewayDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    answer: usual,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  return double;
}
