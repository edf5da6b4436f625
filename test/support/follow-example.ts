import { type Reply, type Sending } from './http';
import { sendPatiently } from './send-patiently';

/** An input that the sandbox documents. */
export interface SandboxExample {
  readonly product: string;
  readonly route: string;
  readonly method: string;
  readonly outcome: string;
  readonly input: Record<string, unknown>;
  readonly yields: string;
}

type PlainRequest = Omit<Sending, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };

function multipart({ filename, content_type, base64 }: Record<string, string>): PlainRequest {
  const head = `--BB\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: ${content_type}\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), Buffer.from(base64 ?? '', 'base64'), Buffer.from('\r\n--BB--\r\n')]);
  return { headers: { 'Content-Type': 'multipart/form-data; boundary=BB' }, body };
}

/** The request that an entry tells of, without a key: its file stands there as base64 and is sent as the file it is. */
export function requestOf({ method, route, input }: Pick<SandboxExample, 'method' | 'route' | 'input'>): PlainRequest & { path: string } {
  const { file } = input;
  if (file !== undefined) return { method, path: route, ...multipart(file as Record<string, string>) };
  if (method !== 'GET' && method !== 'HEAD') {
    return { method, path: route, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(input) };
  }
  const query = new URLSearchParams(Object.entries(input).map(([name, value]): [string, string] => [name, String(value)])).toString();
  return { method, path: query === '' ? route : `${route}?${query}` };
}

/** Sends documented inputs through a gateway, with a key for each product. */
export class ExampleCaller {
  constructor(
    private readonly gatewayUrl: string,
    private readonly keyOf: (product: string) => string,
  ) {}

  call(product: string, method: string, route: string, input: Record<string, unknown>): Promise<Reply> {
    const { path, headers, ...request } = requestOf({ method, route, input });
    return sendPatiently(this.gatewayUrl + path, { ...request, headers: { 'X-API-Key': this.keyOf(product), ...headers } });
  }

  /** Sends an entry as it says: session workflows first take the steps that lead to it. */
  async follow(entry: SandboxExample): Promise<Reply> {
    const { product, route, method, input } = entry;
    const step = (to: string, fields: Record<string, unknown>): Promise<Reply> => this.call(product, 'POST', to, fields);
    if (route === '/gst/data' || route === '/gst/refresh_captcha') {
      const { sessionId } = (await this.call(product, 'GET', '/gst/start', {})).json();
      return this.call(product, method, route, { ...input, sessionId });
    }
    if (route !== '/aadhaar/captcha' && route !== '/aadhaar/otp') return this.call(product, method, route, input);
    const { aadhaar, captcha, otp } = input;
    const { sessionId } = (await step('/aadhaar/start', { aadhaar })).json();
    const answered = await step('/aadhaar/captcha', { sessionId, captcha });
    return route === '/aadhaar/captcha' ? answered : step('/aadhaar/otp', { sessionId, otp });
  }
}
