import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

export interface TestServer {
  url: string;
  port: number;
  server: Server;
  close(): Promise<void>;
}

export async function serve(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<TestServer> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers what it received, in the shape of the recording's upstream. */
export function startEcho(): Promise<TestServer & { seen: string[] }> {
  const seen: string[] = [];
  return serve((request, response) => {
    const chunks: Buffer[] = [];
    seen.push(request.url ?? '');
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const { method, url, rawHeaders } = request;
      const answer = { n: seen.length, method, url, rawHeaders, bodyLen: body.length, body: body.toString('latin1').slice(0, 200) };
      response.setHeader('Content-Type', 'application/json');
      response.end(`${JSON.stringify(answer)}\n`);
    });
  }).then((started) => ({ ...started, seen }));
}
