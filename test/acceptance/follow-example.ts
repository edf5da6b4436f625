import { send, type Reply } from '../support/http';

/** An input that the sandbox documents. */
export interface SandboxExample {
  readonly product: string;
  readonly route: string;
  readonly method: string;
  readonly outcome: string;
  readonly input: Record<string, unknown>;
  readonly yields: string;
}

/** Sends documented inputs through a gateway, with a key for each product. */
export class ExampleCaller {
  constructor(
    private readonly gatewayUrl: string,
    private readonly keyOf: (product: string) => string,
  ) {}

  call(product: string, method: string, route: string, input: Record<string, unknown>): Promise<Reply> {
    const headers = { 'X-API-Key': this.keyOf(product) };
    const url = this.gatewayUrl + route;
    if (method !== 'GET' && method !== 'HEAD') {
      return send(url, { method, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(input) });
    }
    const query = new URLSearchParams(Object.entries(input).map(([name, value]): [string, string] => [name, String(value)])).toString();
    return send(query === '' ? url : `${url}?${query}`, { method, headers });
  }

  /** Sends an entry as it says: session workflows first take the steps that lead to it. */
  async follow(entry: SandboxExample): Promise<Reply> {
    const { product, route, method, input } = entry;
    const step = (to: string, fields: Record<string, unknown>): Promise<Reply> => this.call(product, 'POST', to, fields);
    if (route === '/app/analyze') return this.upload(entry);
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

  /** An entry's file stands there as base64 and is sent as the file it is. */
  private upload({ product, route, input }: SandboxExample): Promise<Reply> {
    const { filename, content_type, base64 } = input['file'] as Record<string, string>;
    const head = `--BB\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: ${content_type}\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), Buffer.from(base64 ?? '', 'base64'), Buffer.from('\r\n--BB--\r\n')]);
    const headers = { 'X-API-Key': this.keyOf(product), 'Content-Type': 'multipart/form-data; boundary=BB' };
    return send(this.gatewayUrl + route, { method: 'POST', headers, body });
  }
}
