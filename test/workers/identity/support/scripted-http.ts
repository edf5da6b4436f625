import { type IncomingHttpHeaders } from 'node:http';
import { serve } from '../../../support/http';

export interface SeenRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly text: string;
  /** The body, when it is JSON. */
  readonly json: any;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** An object is sent as JSON. */
  readonly body?: object | string | Buffer;
}

/** `hang` never answers, `reset` breaks the connection. */
export type HttpScript = (request: SeenRequest) => ScriptedAnswer | 'hang' | 'reset';

/** An HTTP upstream that does what a test says, on loopback. */
export interface ScriptedHttp {
  readonly url: string;
  /** Every request, in order. */
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

function jsonOf(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param onHang told of each request that will never be answered, once nothing else is to be done about it */
export async function startScriptedHttp(script: HttpScript, onHang: () => void = () => undefined): Promise<ScriptedHttp> {
  const seen: SeenRequest[] = [];
  const { url, close } = await serve((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { method = '', headers, rawHeaders } = request;
      const one = { method, url: request.url ?? '', headers, rawHeaders, text, json: jsonOf(text) };
      seen.push(one);
      const answer = script(one);
      if (answer === 'hang') return void setImmediate(onHang);
      if (answer === 'reset') return void request.socket.destroy();
      const { status = 200, headers: more = {}, body = '' } = answer;
      const isPlain = typeof body === 'string' || Buffer.isBuffer(body);
      response.writeHead(status, { ...(!isPlain && { 'content-type': 'application/json' }), ...more });
      response.end(isPlain ? body : JSON.stringify(body));
    });
  });
  return { url, seen, close };
}
