import { CATALOGUE } from '../../plugins/core/catalogue';
import { send, type Reply } from '../support/http';
import { openInstallation, type Installation } from './installation';

interface SandboxEntry {
  product: string;
  route: string;
  method: string;
  outcome: string;
  input: Record<string, unknown>;
  yields: string;
}

let tollgate: Installation;
let entries: SandboxEntry[] = [];
const keys = new Map<string, string>();

beforeAll(async () => {
  tollgate = await openInstallation();
  entries = (await send(`${tollgate.sandboxUrl}/`)).json();
  for (const { id, routes } of CATALOGUE) {
    if (routes.length > 0) keys.set(id, (await tollgate.createKey({ products: [id], mode: 'test' })).key);
  }
}, 120_000);

afterAll(() => tollgate.close());

const json = { 'Content-Type': 'application/json' };

function call(product: string, method: string, route: string, input: Record<string, unknown>): Promise<Reply> {
  const headers = { 'X-API-Key': keys.get(product) ?? '' };
  const url = tollgate.gatewayUrl + route;
  if (method !== 'GET' && method !== 'HEAD') return send(url, { method, headers: { ...headers, ...json }, body: JSON.stringify(input) });
  const query = new URLSearchParams(Object.entries(input).map(([name, value]): [string, string] => [name, String(value)])).toString();
  return send(query === '' ? url : `${url}?${query}`, { method, headers });
}

/** An entry's file stands there as base64 and is sent as the file it is. */
function upload({ product, route, input }: SandboxEntry): Promise<Reply> {
  const { filename, content_type, base64 } = input['file'] as Record<string, string>;
  const head = `--BB\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: ${content_type}\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), Buffer.from(base64 ?? '', 'base64'), Buffer.from('\r\n--BB--\r\n')]);
  const headers = { 'X-API-Key': keys.get(product) ?? '', 'Content-Type': 'multipart/form-data; boundary=BB' };
  return send(tollgate.gatewayUrl + route, { method: 'POST', headers, body });
}

/** Sends an entry as it says: session workflows first take the steps that lead to it. */
async function follow(entry: SandboxEntry): Promise<Reply> {
  const { product, route, method, input } = entry;
  const step = (to: string, fields: Record<string, unknown>): Promise<Reply> => call(product, 'POST', to, fields);
  if (route === '/app/analyze') return upload(entry);
  if (route === '/gst/data' || route === '/gst/refresh_captcha') {
    const { sessionId } = (await call(product, 'GET', '/gst/start', {})).json();
    return call(product, method, route, { ...input, sessionId });
  }
  if (route !== '/aadhaar/captcha' && route !== '/aadhaar/otp') return call(product, method, route, input);
  const { aadhaar, captcha, otp } = input;
  const { sessionId } = (await step('/aadhaar/start', { aadhaar })).json();
  const answered = await step('/aadhaar/captcha', { sessionId, captcha });
  return route === '/aadhaar/captcha' ? answered : step('/aadhaar/otp', { sessionId, otp });
}

/** The status that the entry's own text promises. */
function promised({ yields }: SandboxEntry): number {
  return Number(/(?:^|: )([2-5]\d\d)(?=[ ,;:.]|$)/.exec(yields)?.[1]);
}

describe('with a test key every documented input yields what it says', () => {
  const products = CATALOGUE.filter((product) => product.routes.length > 0).map((product) => product.id);

  it.each(products)(
    'of %s',
    async (product) => {
      const own = entries.filter((entry) => entry.product === product);
      expect(own).not.toEqual([]);
      const replies = await Promise.all(own.map(follow));
      const seen = own.map((entry, index) => `${entry.route} ${entry.outcome} ${replies[index]?.status}`);
      expect(seen).toEqual(own.map((entry) => `${entry.route} ${entry.outcome} ${promised(entry)}`));
      for (const reply of replies) expect(reply.headers['x-tollgate-mode']).toBe('test');
    },
    90_000,
  );

  it('and every route of the catalogue has a success among them', () => {
    const routes = CATALOGUE.flatMap((product) => product.routes.map((route) => `${product.id} ${route.path}`));
    const successes = new Set(entries.filter((entry) => entry.outcome === 'success').map((entry) => `${entry.product} ${entry.route}`));
    expect(routes.filter((route) => !successes.has(route))).toEqual([]);
  });

  it('and the outcomes that scripts rely on are there', () => {
    const required: Record<string, string> = {
      'api-pincode': 'no_records provider_down timeout',
      'api-image': 'provider_down timeout',
      'api-gst': 'captcha_rejected not_found timeout',
      'api-aadhaar': 'captcha_rejected otp_invalid otp_expired timeout',
      'api-grank': 'upstream_error timeout',
      'api-glead': 'upstream_error timeout',
      'api-gdplay': 'not_found not_video quota timeout',
      'api-seo': 'upstream_error timeout',
    };
    for (const [product, outcomes] of Object.entries(required)) {
      const documented = entries.filter((entry) => entry.product === product).map((entry) => entry.outcome);
      expect(documented).toEqual(expect.arrayContaining(outcomes.split(' ')));
    }
  });
});

describe('a live key', () => {
  it('of a product without a live source is told which setting is missing, and others still work', async () => {
    const { key } = await tollgate.createKey({ products: ['api-gst', 'api-ip'], mode: 'live' });
    const reply = await send(`${tollgate.gatewayUrl}/gst/start`, { headers: { 'X-API-Key': key } });
    expect([reply.status, reply.json().code]).toEqual([503, 'upstream_not_configured']);
    expect(reply.json().detail).toMatch(/[A-Z]+_[A-Z_]+/);
    expect((await send(`${tollgate.gatewayUrl}/ip?ip=8.8.8.8`, { headers: { 'X-API-Key': key } })).status).toBe(200);
  });
});
