import { type BalancedRequest } from '../system/balanced-client';
import { send } from '../http';

interface SandboxEntry {
  readonly route: string;
  readonly method: string;
  readonly outcome: string;
  readonly input: Readonly<Record<string, unknown>>;
}

function multipart({ filename, content_type, base64 }: Record<string, string>): Pick<BalancedRequest, 'headers' | 'body'> {
  const head = `--BB\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: ${content_type}\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), Buffer.from(base64 ?? '', 'base64'), Buffer.from('\r\n--BB--\r\n')]);
  return { headers: { 'Content-Type': 'multipart/form-data; boundary=BB' }, body };
}

function requestOf({ route, method, input }: SandboxEntry): BalancedRequest {
  const { file } = input;
  if (file !== undefined) return { method, path: route, ...multipart(file as Record<string, string>) };
  if (method !== 'GET') return { method, path: route, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(input) };
  const query = new URLSearchParams(Object.entries(input).map(([name, value]): [string, string] => [name, String(value)])).toString();
  return { method, path: query === '' ? route : `${route}?${query}` };
}

/** The requests that the sandbox documents as answered with 200, one a route. @throws Error for a route that it does not document */
export async function successfulRequests(sandboxUrl: string, routes: readonly string[]): Promise<BalancedRequest[]> {
  const entries = (await send(`${sandboxUrl}/`)).json() as SandboxEntry[];
  return routes.map((route) => {
    const entry = entries.find((each) => each.route === route && each.outcome === 'success');
    if (!entry) throw new Error(`the sandbox documents no success of ${route}`);
    return requestOf(entry);
  });
}
