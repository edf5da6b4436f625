import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { UpstreamClient } from '../../../services/kit/upstream/upstream-client';

export interface RecordedAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly body: string | Buffer;
}

export interface SeenRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that answers by path with what was recorded, and remembers what it was asked. */
export class RecordedUpstream {
  readonly seen: SeenRequest[] = [];
  private answers: Readonly<Record<string, RecordedAnswer>> = {};
  private client: UpstreamClient | undefined;
  private readonly server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://recorded');
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      this.seen.push({ method: request.method ?? '', url, headers: request.headers, body });
      const answer = this.answers[url.pathname] ?? { status: 599, body: '' };
      response.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'application/json' }).end(answer.body);
    });
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  /** @param base path of the client's base URL */
  clientFor(answers: Readonly<Record<string, RecordedAnswer>>, base = ''): UpstreamClient {
    this.answers = answers;
    this.seen.length = 0;
    const liveUrl = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${base}`;
    this.client = new UpstreamClient({ name: 'recorded', target: { liveUrl, liveSetting: 'X', sandboxUrl: undefined } });
    return this.client;
  }

  async stop(): Promise<void> {
    await this.client?.close();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
